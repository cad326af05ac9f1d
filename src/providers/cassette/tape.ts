/**
 * The file of a cassette: JSON lines that people can read and compare. The first line counts the others, so that a file
 * that was cut anywhere is told from a whole one.
 *
 * T1 What is in the file is whole: a call is written with its end, in one piece, before its reader goes on.
 * T2 Messages, instructions and tools stand there once and are cited by name, so a long conversation costs what it adds.
 * T3 A file that is not what its first line says is not used at all.
 * T4 One cassette records to a file: of several in a process the newest, and a call of another is refused before it is made.
 */
import { readFileSync } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCatalogue, HoldfastError } from "../../domain/errors.ts";
import { type JsonValue, messageOf } from "../../domain/json.ts";
import type { ModelPart } from "../../ports/provider.ts";
import type { RecordedEnd } from "./reply.ts";
import { type RecordedRequest, sorted } from "./request.ts";

export interface RecordedCall {
  /** In the order in which the calls began. */
  readonly call: number;
  readonly agent: string;
  readonly step: number;
  readonly request: RecordedRequest;
  readonly reply: readonly ModelPart[];
  readonly end: RecordedEnd;
}

const format = 1;
/** Prompts are nobody else's business. */
const ownerOnly = 0o600;

export function unusable(file: string, what: string, cause?: unknown): HoldfastError {
  return new HoldfastError("cassette-unusable", `The cassette ${file} cannot be used: ${what}`, { cause });
}

const again = "delete it and record again";

/** T3. */
export function readTape(file: string): readonly RecordedCall[] {
  const lines = linesOf(file);
  checkHeader(file, lines);
  const defined = new Map<string, JsonValue>();
  const calls: RecordedCall[] = [];
  for (const [index, text] of lines.entries()) {
    if (index === 0) continue;
    const at = `line ${index + 1}`;
    const line = parseLine(text) as Partial<RecordedCall & { define: string; value: JsonValue }> | undefined;
    if (!line) throw unusable(file, `${at} is no JSON; ${again}`);
    if (typeof line.define === "string") defined.set(line.define, line.value ?? null);
    else calls.push(readCall(line, defined) ?? fail(unusable(file, `${at} is no whole call; ${again}`)));
  }
  return calls.sort((a, b) => a.call - b.call);
}

function fail(error: HoldfastError): never {
  throw error;
}

function linesOf(file: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw unusable(file, `it cannot be read (${messageOf(cause)}); record it first with mode "record"`, cause);
  }
  const lines = text.split("\n");
  if (lines.pop() !== "") throw unusable(file, `it is cut: its last line does not end; ${again}`);
  return lines;
}

function checkHeader(file: string, lines: readonly string[]): void {
  const header = parseLine(lines[0] ?? "") as { cassette?: unknown; lines?: unknown } | undefined;
  if (header?.cassette === undefined) throw unusable(file, `its first line is not that of a cassette; ${again}`);
  if (header.cassette !== format) {
    throw unusable(file, `it has format ${header.cassette}, and this version reads format ${format}; ${again}`);
  }
  const found = lines.length - 1;
  if (header.lines !== found) {
    throw unusable(
      file,
      `it is cut: its first line counts ${header.lines} more lines, and there are ${found}; ${again}`,
    );
  }
}

function parseLine(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const endKinds: readonly unknown[] = ["done", "aborted", "error"] satisfies readonly RecordedEnd["kind"][];

function isEnd(end: Partial<RecordedEnd> | undefined): boolean {
  if (end?.kind !== "error") return endKinds.includes(end?.kind);
  const { code, message } = end;
  return typeof code === "string" && Object.hasOwn(errorCatalogue, code) && typeof message === "string";
}

function readCall(line: Partial<RecordedCall>, defined: ReadonlyMap<string, JsonValue>): RecordedCall | undefined {
  const { call, agent, step, request, reply, end } = line;
  const isCall = Number.isInteger(call) && typeof agent === "string" && Number.isInteger(step);
  if (!isCall || !request || !Array.isArray(reply) || !isEnd(end)) return undefined;
  const cited = [request.instructions, request.tools, ...(request.messages ?? [])];
  if (!cited.every((name) => typeof name === "string" && defined.has(name))) return undefined;
  const cites = (name: JsonValue): JsonValue => defined.get(name as string) as JsonValue;
  const whole = {
    ...request,
    instructions: cites(request.instructions),
    tools: cites(request.tools),
    messages: request.messages.map(cites),
  };
  return { ...(line as RecordedCall), request: whole };
}

export interface Tape {
  /** T4. */
  checkOwner(): void;
  write(call: RecordedCall): Promise<void>;
}

/** Who records to a file, by its path. */
const owners = new Map<string, object>();

/** A new file, in the place of what was there. It appears with the first call. */
export function createTape(file: string): Tape {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const [path, me] = [resolve(file), {}];
  owners.set(path, me);
  let last: Promise<void> = Promise.resolve();
  let lines = 0;
  let size = headerOf(0).length;

  /** T2. */
  function cite(kind: string, value: JsonValue, into: string[]): string {
    const key = `${kind} ${JSON.stringify(sorted(value))}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    const name = `${kind}-${count}`;
    counts.set(kind, count);
    names.set(key, name);
    into.push(JSON.stringify({ define: name, value }));
    return name;
  }

  function linesFor(call: RecordedCall): readonly string[] {
    const { request } = call;
    const made: string[] = [];
    const cited = {
      ...request,
      instructions: cite("instructions", request.instructions, made),
      tools: cite("tools", request.tools, made),
      messages: request.messages.map((message) => cite("message", message, made)),
    };
    return [...made, JSON.stringify({ ...call, request: cited })];
  }

  async function append(call: RecordedCall): Promise<void> {
    const handle = await openTape(file, lines === 0);
    try {
      if (lines > 0) await expectSize(handle, size);
      const made = linesFor(call);
      const bytes = Buffer.from(`${made.join("\n")}\n`);
      await writeAt(handle, bytes, size);
      lines += made.length;
      size += bytes.length;
      await writeAt(handle, Buffer.from(headerOf(lines)), 0);
    } finally {
      await handle.close();
    }
  }

  return {
    checkOwner() {
      if (owners.get(path) === me) return;
      throw unusable(file, "another cassette of this process records to it; give each a file of its own");
    },
    write(call) {
      last = last.then(() => append(call));
      const mine = last.catch((cause: unknown) => {
        throw unusable(
          file,
          `it cannot be written (${messageOf(cause)}); what was recorded so far is not whole`,
          cause,
        );
      });
      last.catch(() => undefined); // told through `mine`; what comes after it fails too
      return mine;
    },
  };
}

/** As long for every count, so that it can be written over. */
function headerOf(lines: number): string {
  return `{"cassette":${format},"lines":${String(lines).padStart(9)}}\n`;
}

async function openTape(file: string, isNew: boolean): Promise<FileHandle> {
  if (isNew) await mkdir(dirname(file), { recursive: true });
  return open(file, isNew ? "w" : "r+", ownerOnly);
}

/** Two who write one file would spoil each other's recording. */
async function expectSize(handle: FileHandle, expected: number): Promise<void> {
  const { size } = await handle.stat();
  if (size !== expected) throw new Error("somebody else writes to it; give each cassette a file of its own");
}

async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  const { bytesWritten } = await handle.write(bytes, 0, bytes.length, position);
  if (bytesWritten < bytes.length) throw new Error(`only ${bytesWritten} of ${bytes.length} bytes fit`);
}
