/**
 * The program of a stdio server: started with a small environment, heard line by line, and ended with all that it started.
 *
 * C1 It gets the variables that any program needs and those that it is given; nothing else of this process.
 * C2 After close() neither it nor anything it has started runs: it is asked by closing its input, then told, then killed,
 *    as a group.
 * C3 What it writes is bounded: a line beyond the limit ends it, and of its error output only the end is kept.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { type McpStdio, plain } from "./options.ts";
import { notSent } from "./outcome.ts";

interface ProgramLimits {
  readonly messageBytes: number;
  readonly closeMs: number;
}

export interface ProgramTransport extends Transport {
  readonly pid: number | null;
  /** The end of what it wrote to its error output, as an address for the protocol package and as text for us. */
  readonly stderr: string;
  /** It ran, and does no longer. */
  readonly hasEnded: boolean;
  /** Ends it at once: it has broken a limit. */
  kill(): void;
}

const keptOfStderr = 2_048;
const drainMs = 250;
const ownGroup = process.platform !== "win32";

export function createProgram(stdio: McpStdio, { messageBytes, closeMs }: ProgramLimits): ProgramTransport {
  let child: ChildProcessWithoutNullStreams | undefined;
  let ended: Promise<void> = Promise.resolve();
  let hasEnded = false;
  let stderr = "";
  const lines = createLines(messageBytes);

  const transport: ProgramTransport = {
    get pid() {
      return child?.pid ?? null;
    },
    get stderr() {
      return stderr;
    },
    get hasEnded() {
      return hasEnded;
    },
    start() {
      const started = begin(stdio);
      child = started;
      ended = endOf(started).then(() => {
        hasEnded = started.pid !== undefined;
        transport.onclose?.();
      });
      started.stdin.on("error", tell);
      started.stderr.on("data", (chunk: Buffer) => {
        stderr = (stderr + chunk.toString("utf8")).slice(-keptOfStderr);
      });
      started.stdout.on("data", (chunk: Buffer) => {
        if (!lines.add(chunk, heard)) {
          tell(new Error(`it wrote a message of more than ${messageBytes} bytes`));
          transport.kill();
        }
      });
      return new Promise((resolve, reject) => {
        started.once("spawn", resolve);
        started.once("error", reject);
      });
    },
    send(message) {
      const stdin = child?.stdin;
      if (!stdin || stdin.destroyed || stdin.writableEnded) return Promise.reject(notSent("the program has ended"));
      stdin.write(serializeMessage(message));
      return Promise.resolve();
    },
    async close() {
      const leaving = child;
      if (!leaving) return;
      leaving.stdin.end();
      // C2. Whatever it started may still hold its pipes, so only its own end is waited for.
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        if (await settled(ended, closeMs)) break;
        signalGroup(leaving, signal);
      }
      await ended;
      signalGroup(leaving, "SIGKILL");
    },
    kill() {
      if (child) signalGroup(child, "SIGKILL");
    },
  };

  function tell(error: Error): void {
    transport.onerror?.(error);
  }

  function heard(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      tell(new Error("it wrote something to its output that is no message"));
      return;
    }
    transport.onmessage?.(message);
  }

  return transport;
}

/** C1. */
function begin({ command, args = [], env = {}, cwd }: McpStdio): ChildProcessWithoutNullStreams {
  const given = Object.entries(env).map(([name, value]) => [name, plain(value)] as const);
  return spawn(command, args.map(plain), {
    env: { ...getDefaultEnvironment(), ...Object.fromEntries(given) },
    stdio: ["pipe", "pipe", "pipe"],
    shell: false,
    windowsHide: true,
    detached: ownGroup,
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/** Its end, and a moment for what it had written before. Never rejects. */
function endOf(child: ChildProcessWithoutNullStreams): Promise<void> {
  endWithProcess(child);
  return new Promise<void>((resolve) => {
    child.on("error", () => child.pid === undefined && resolve());
    child.once("close", () => resolve());
    child.once("exit", () => setTimeout(resolve, drainMs));
  }).finally(() => running.delete(child));
}

/** One listener for all: a process may have many programs. */
const running = new Set<ChildProcessWithoutNullStreams>();
let isWatched = false;

function endWithProcess(child: ChildProcessWithoutNullStreams): void {
  running.add(child);
  if (isWatched) return;
  isWatched = true;
  process.on("exit", () => {
    for (const each of running) signalGroup(each, "SIGKILL");
  });
}

function signalGroup(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (ownGroup) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    return; // nobody of the group is left
  }
}

async function settled(promise: Promise<void>, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), withinMs);
  });
  const first = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return first;
}

interface Lines {
  /** False when a line has become too long. */
  add(chunk: Buffer, heard: (line: string) => void): boolean;
}

/** C3. */
function createLines(maxBytes: number): Lines {
  let parts: Buffer[] = [];
  let size = 0;
  return {
    add(chunk, heard) {
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        const line = Buffer.concat([...parts, chunk.subarray(from, at)])
          .toString("utf8")
          .trim();
        parts = [];
        size = 0;
        from = at + 1;
        if (Buffer.byteLength(line) > maxBytes) return false;
        if (line !== "") heard(line);
      }
      const rest = chunk.subarray(from);
      if (rest.length > 0) parts.push(rest);
      size += rest.length;
      return size <= maxBytes;
    },
  };
}
