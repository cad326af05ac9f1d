/** Branded ids. Inside the house they are trusted; at the edges `parseId` lets them in. */
import { HoldfastError } from "./errors.ts";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Tenant; the first part of every key, port call and cursor. */
export type Scope = Branded<"Scope">;
export type RunId = Branded<"RunId">;
export type ThreadId = Branded<"ThreadId">;
export type MessageId = Branded<"MessageId">;
/** run.step.index: derived, never drawn, so a replay makes the same id. */
export type CallId = Branded<"CallId">;
export type EffectId = Branded<"EffectId">;
export type TicketId = Branded<"TicketId">;
export type InputId = Branded<"InputId">;
export type Fingerprint = Branded<"Fingerprint">;

export const defaultScope = "default" as Scope;

const maxIdBytes = 512;
const controlCharacter = /\p{Cc}/u;

export function parseId<Id extends string>(what: string, text: unknown): Id {
  const problem = idProblem(text);
  if (problem) throw new HoldfastError("invalid-id", `${what} ${problem}`, { details: { what } });
  return text as Id;
}

/** What is wrong with it, undefined when it fits. */
export function idProblem(text: unknown): string | undefined {
  if (typeof text !== "string") return `must be a string, got ${text === null ? "null" : typeof text}`;
  if (text.length === 0) return "must not be empty";
  if (Buffer.byteLength(text) > maxIdBytes) return `is longer than ${maxIdBytes} bytes`;
  if (controlCharacter.test(text)) return "has a control character";
  if (!text.isWellFormed()) return "has a lone surrogate";
  return undefined;
}

/** Bytes that ids derived from a run's (calls, effects, tickets) may add to it. */
const derivedBytes = 64;

/** The run that reads what this one has left unread. */
export function successorId(run: RunId, hash: (text: string) => string): RunId {
  return fitting(`${run}.next`, hash) as RunId;
}

/** The start key of that run. */
export function successorKey(run: RunId, hash: (text: string) => string): string {
  return fitting(`next:${run}`, hash);
}

/** The run that a delegate's call is, and its thread: derived, so that however often it is intended there is one. */
export function childId(call: CallId, hash: (text: string) => string): RunId {
  return fitting(`${call}.run`, hash) as RunId;
}

export function childThread(call: CallId, hash: (text: string) => string): ThreadId {
  return fitting(`${call}.thread`, hash) as ThreadId;
}

/** The start key of that run. */
export function childKey(call: CallId, hash: (text: string) => string): string {
  return fitting(`child:${call}`, hash);
}

/** A successor may have a successor, and a child a child: what would grow too long becomes its hash. */
function fitting(text: string, hash: (text: string) => string): string {
  return Buffer.byteLength(text) <= maxIdBytes - derivedBytes ? text : hash(text);
}

export function callId(run: RunId, step: number, index: number): CallId {
  return `${run}.${step}.${index}` as CallId;
}

export function modelEffectId(run: RunId, step: number): EffectId {
  return `${run}.${step}.model` as EffectId;
}

/** A run summarises as often as it has to: one effect for each. */
export function compactionId(run: RunId, generation: number): EffectId {
  return `${run}.compaction.${generation}` as EffectId;
}

export function turnEffectId(run: RunId, step: number): EffectId {
  return `${run}.${step}.remote` as EffectId;
}

export function abortEffectId(run: RunId, step: number): EffectId {
  return `${run}.${step}.remote-abort` as EffectId;
}

/** What a remote turn sends: another message only when an operator has it sent again. */
export function turnMessageId(run: RunId, step: number, again: number): MessageId {
  return `${run}.${step}.turn${again === 0 ? "" : `~${again + 1}`}` as MessageId;
}

/** A tool call has one effect unless an operator asks for a run with a new key: then one per generation. */
export function toolEffectId(call: CallId, generation: number): EffectId {
  return (generation === 1 ? call : `${call}~${generation}`) as EffectId;
}

export function replyId(run: RunId, step: number): MessageId {
  return `${run}.${step}` as MessageId;
}

export function resultId(call: CallId): MessageId {
  return `${call}.result` as MessageId;
}

export function ticketId(subject: RunId | CallId, kind: string, generation: number): TicketId {
  return `${subject}.${kind}.${generation}` as TicketId;
}
