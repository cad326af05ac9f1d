/**
 * A remote backend that says what it is told, and the other side behind it: tasks that outlive the process that sent them.
 * For tests of agents that execute elsewhere, deterministic, no network.
 */
import { backendFactory, configuredBackend, remoteBackend } from "../backends/define.ts";
import { backendError } from "../domain/backend/backend-error.ts";
import type { Capabilities } from "../domain/backend/capabilities.ts";
import type { RemoteEndpoint } from "../domain/backend/endpoint.ts";
import { type BackendResult, mayStillRun } from "../domain/backend/result.ts";
import { HoldfastError } from "../domain/errors.ts";
import { Problems } from "../domain/problems.ts";
import type {
  BackendFactory,
  ConfiguredBackend,
  RemoteAbort,
  RemoteBackend,
  RemoteLook,
  RemoteSight,
  RemoteTurn,
} from "../ports/backend.ts";

export interface FakeTurn {
  readonly result: BackendResult;
  /** It is a task only if said; a remote that answers at once has none. */
  readonly task?: string;
  /** The answer comes after this; until then the other side works. */
  readonly until?: Promise<unknown>;
  /** The connection breaks: before the other side has the message, before it acknowledges it, or after. */
  readonly breaks?: "before-send" | "before-ack" | "after-ack";
  /** Answers this instead of a result, however malformed. */
  readonly answer?: unknown;
}

/** A text is a completed turn with it; an error is thrown as it is; a function is asked for one of these. */
export type FakeAnswer = string | FakeTurn | Error | ((turn: RemoteTurn) => FakeAnswer);

export interface FakeRemoteOptions {
  readonly name?: string;
  readonly capabilities?: Partial<Capabilities>;
  readonly endpoint?: Partial<RemoteEndpoint>;
  /** It can tell what became of a message whose task nobody has seen. */
  readonly knowsMessages?: boolean;
  /** What an abort throws. */
  readonly abortFails?: Error;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** What the other side has seen, over all processes. */
export interface FakeRemote extends ConfiguredBackend {
  readonly factory: BackendFactory;
  readonly turns: readonly RemoteTurn[];
  readonly looks: readonly RemoteLook[];
  readonly aborts: readonly RemoteAbort[];
  /** How many messages of this id the other side has taken. */
  taken(message: string): number;
}

interface Task {
  readonly message: string;
  readonly id: string | undefined;
  readonly turn: FakeTurn;
}

interface OtherSide {
  readonly script: readonly FakeAnswer[];
  readonly options: FakeRemoteOptions;
  readonly tasks: Task[];
  readonly turns: RemoteTurn[];
  readonly looks: RemoteLook[];
  readonly aborts: RemoteAbort[];
}

/** What a capable remote has, unless the test says otherwise. */
const capable: Capabilities = {
  cancellation: "remote-abort",
  decisions: false,
  overrides: false,
  frontendTools: false,
  continuation: "remote-state",
  waits: "input-and-auth",
  transcript: "incremental-user-messages",
  output: "text-and-artifacts",
  persistence: "durable",
};

/** The answer of the nth message is `script[n - 1]`; one more fails loudly. */
export function fakeRemote(script: readonly FakeAnswer[], options: FakeRemoteOptions = {}): FakeRemote {
  const { name = "fake" } = options;
  const other: OtherSide = { script, options, tasks: [], turns: [], looks: [], aborts: [] };
  const factory = backendFactory(name, (endpoint) => build(other, endpoint));
  const endpoint = {
    backend: name,
    baseUrl: "https://fake.test",
    timeoutMs: 300_000,
    options: {},
    ...options.endpoint,
  };
  return {
    ...configuredBackend(factory, endpoint),
    factory,
    turns: other.turns,
    looks: other.looks,
    aborts: other.aborts,
    taken: (message) => other.tasks.filter((task) => task.message === message).length,
  };
}

function build(other: OtherSide, { options }: RemoteEndpoint): RemoteBackend {
  const { name = "fake", capabilities } = other.options;
  const problems = new Problems(options, ["pollInterval"]);
  problems.integer("pollInterval", 1, 60_000);
  problems.refuse("invalid-backend", `The options of backend ${name} cannot be used`);
  return remoteBackend(name, {
    capabilities: { ...capable, ...capabilities },
    executeRoot: (turn) => take(other, turn),
    executeDelegate: (turn) => take(other, turn),
    look: (what) => look(other, what),
    abort: (what) => abort(other, what),
  });
}

async function take(other: OtherSide, turn: RemoteTurn): Promise<BackendResult> {
  turn.signal.throwIfAborted();
  other.turns.push(turn);
  const known = other.tasks.find(({ message }) => message === turn.message);
  const task = known ?? begin(other, turn);
  const { breaks, until, result, answer } = task.turn;
  if (breaks === "before-ack") throw new TypeError("the connection broke before anything came back");
  if (task.id !== undefined) await turn.onTask({ task: task.id, context: `their-${turn.context.slice(0, 8)}` });
  if (breaks === "after-ack") throw new TypeError("the connection broke");
  if (until) await untilAborted(until, turn.signal);
  if (answer !== undefined) return answer as BackendResult;
  return withTask(result, task.id);
}

function begin(other: OtherSide, turn: RemoteTurn): Task {
  const scripted = resolve(other.script[other.tasks.length], turn, other);
  if (scripted.breaks === "before-send") throw new TypeError("the connection was refused");
  const id = scripted.task ?? turn.task?.task;
  const task = { message: turn.message, id, turn: scripted };
  other.tasks.push(task);
  return task;
}

function resolve(answer: FakeAnswer | undefined, turn: RemoteTurn, other: OtherSide): FakeTurn {
  if (answer === undefined) {
    const message = `The fake remote has no answer for turn ${other.tasks.length + 1} of ${turn.agent}`;
    throw new HoldfastError("script-exhausted", message);
  }
  if (answer instanceof Error) throw answer;
  if (typeof answer === "function") return resolve(answer(turn), turn, other);
  return typeof answer === "string" ? { result: { status: { kind: "completed" }, output: { text: answer } } } : answer;
}

function withTask(result: BackendResult, id: string | undefined): BackendResult {
  return id === undefined || result.task ? result : { ...result, task: { task: id } };
}

function untilAborted(until: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    until.then(resolve, reject);
  });
}

async function look(other: OtherSide, what: RemoteLook): Promise<RemoteSight> {
  other.looks.push(what);
  const byTask = other.tasks.findLast(
    ({ id, message }) => id !== undefined && id === what.task?.task && message === what.message,
  );
  const byMessage = other.options.knowsMessages
    ? other.tasks.find(({ message }) => message === what.message)
    : undefined;
  const task = byTask ?? byMessage;
  if (task) {
    if (task.turn.until) await untilAborted(task.turn.until, what.signal);
    return { kind: "result", result: withTask(task.turn.result, task.id) };
  }
  if (other.options.knowsMessages) return { kind: "absent" };
  return { kind: "unknown", why: "the remote cannot find a message by its id" };
}

async function abort(other: OtherSide, what: RemoteAbort): Promise<void> {
  other.aborts.push(what);
  if (other.options.abortFails) throw other.options.abortFails;
  const task = other.tasks.findLast(({ message }) => message === what.message);
  if (task && !mayStillRun(task.turn.result) && task.turn.until === undefined) return; // over: done
}

/** A result that waits, as a remote says it. */
export function waitsFor(kind: "input" | "auth", prompt: string): BackendResult {
  const status = kind === "input" ? "waiting_input" : "waiting_auth";
  return { status: { kind: status, message: prompt }, output: { text: prompt } };
}

/** As an adapter throws it: nothing of the message goes on. */
export function refuses(text: string): Error {
  return backendError("backend-remote-error", text);
}
