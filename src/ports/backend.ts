/**
 * Backend: where a run executes. There are two kinds, and one loop drives both.
 *
 * `Backend` takes a claimed run and drives it; the in-process one is the engine's loop. A `RemoteBackend` is asked by that
 * same loop to make one turn of a run elsewhere: a step of such a run is one turn. `backends/define.ts` makes one of what
 * an adapter has. What a remote backend implements:
 *
 * P1 Building it does no I/O and has no effect. What is wrong with the endpoint is thrown by `build` (and so by `validate`)
 *    as `invalid-backend`, before any run is written.
 * P2 A turn is asked for only after its intent is committed, with our ids: `message` and `context` are the same for every
 *    attempt of this turn and for no other. Send them; a remote that remembers message ids takes the turn once.
 * P3 As soon as the remote's task id is seen, call `onTask` and await it before anything else is asked of the remote: it
 *    resolves when the id is durable, and rejects when this process may not go on with the run. Call it once for each new id.
 * P4 A turn resolves when the task has come to rest: completed, failed, cancelled, waiting for input or auth, suspended, or
 *    `timeout` once `timeoutMs` is over. `timeoutMs` is one deadline for everything the turn does. The other side's work
 *    goes on after a timeout, so the engine aborts it.
 * P5 A throw of `backendError(…)` says: nothing of this message goes on at the other side (refused, never taken, over).
 *    Any other throw, also of the aborted signal, leaves it open: the engine looks the task up where its id is known, and
 *    else shows the turn as unknown. Nothing is ever sent twice by the engine itself.
 * P6 After `signal` aborts nobody waits for the answer: stop soon. The engine calls `abort` by itself where the task may
 *    still run and `capabilities.cancellation` has remote abort. `abort` may come in another process than the turn, and
 *    twice; one of a task that is over is done.
 * P7 `look` finds out what became of a turn whose process died: it follows the task until it rests, by `task` where it is
 *    known, else by `context` and `message` where the remote can find it so. It begins nothing.
 * P8 The words of a wait are its status's message: they become the prompt of a ticket. The ticket's answer comes as the next
 *    turn, with `task` and what the remote had asked for as `answers`.
 */
import type { Capabilities } from "../domain/backend/capabilities.ts";
import type { DeclaredBackend, RemoteEndpoint } from "../domain/backend/endpoint.ts";
import type { BackendResult, RemoteTask } from "../domain/backend/result.ts";
import type { CallId, MessageId, RunId, ThreadId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Message } from "../domain/message.ts";
import type { RunIdentity } from "../domain/run.ts";
import type { HeldClaim } from "./dispatcher.ts";

export interface Backend {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Drives the claimed run until it waits, ends or the claim is lost. Rejects only for defects. */
  executeRoot(claim: HeldClaim): Promise<void>;
}

/** Whose delegate the run is; each may be missing. */
export interface ParentContext {
  readonly run?: RunId;
  readonly thread?: ThreadId;
  readonly call?: CallId;
}

/** What identifies a turn to the other side. */
interface RemoteSubject {
  readonly agent: string;
  readonly identity: RunIdentity;
  /** Only of a delegate. */
  readonly parent?: ParentContext;
  /** Ours: the message that the turn sends, and the conversation that it belongs to. */
  readonly message: MessageId;
  readonly context: string;
  /** Theirs, where it has been seen: in an earlier turn that waits for this one, or in an attempt that was lost. */
  readonly task?: RemoteTask;
}

export interface RemoteTurn extends RemoteSubject {
  readonly step: number;
  readonly attempt: number;
  /** The whole conversation, oldest first. */
  readonly messages: readonly Message[];
  /** Of these, what this turn brings: the run's input, or the answer to what the remote asked. */
  readonly newMessages: readonly Message[];
  /** The same as one text: of `messages` where they were to be flattened, else of `newMessages`. */
  readonly text: string;
  /** Continues `task`, which waits for this. */
  readonly answers?: "input" | "auth";
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** P3. */
  onTask(task: RemoteTask): Promise<void>;
}

export interface RemoteLook extends RemoteSubject {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** absent: the other side answers that it has nothing of this message, so it may be sent. */
export type RemoteSight =
  | { readonly kind: "result"; readonly result: BackendResult }
  | { readonly kind: "absent" }
  | { readonly kind: "unknown"; readonly why: string };

export interface RemoteAbort extends RemoteSubject {
  /** Run state as it was last committed. */
  readonly state: JsonObject;
  /** Whether the turn continued a task. */
  readonly isContinuation: boolean;
  readonly signal: AbortSignal;
}

export interface RemoteBackend {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** One turn of a run that nobody has delegated. */
  executeRoot(turn: RemoteTurn): Promise<BackendResult>;
  /** One turn of a delegate: `parent` is set. */
  executeDelegate(turn: RemoteTurn): Promise<BackendResult>;
  look(what: RemoteLook): Promise<RemoteSight>;
  abort(what: RemoteAbort): Promise<void>;
}

/** Builds backends of one kind. Given to a runtime by its name, it serves what stored manifests declare. */
export interface BackendFactory {
  readonly name: string;
  /** Throws exactly what `build` would. */
  validate(endpoint: RemoteEndpoint): void;
  build(endpoint: RemoteEndpoint): RemoteBackend;
}

/** What `agent({ backend })` takes: an endpoint and who builds it. It is built once per runtime. */
export interface ConfiguredBackend extends DeclaredBackend {
  build(): RemoteBackend;
}
