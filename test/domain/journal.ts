/** Small builders of entries, so that a test shows only what it is about. */
import type { Command, GivenCommand } from "../../src/domain/command.ts";
import type { DeclaredManifest } from "../../src/domain/declared-manifest.ts";
import type { ContextProjected, Entry, EntryBody, RunCreated, Settled, Verdict } from "../../src/domain/entry.ts";
import type {
  CallId,
  Fingerprint,
  InputId,
  MessageId,
  RunId,
  Scope,
  ThreadId,
  TicketId,
} from "../../src/domain/ids.ts";
import { callId, modelEffectId, replyId, resultId, ticketId, toolEffectId } from "../../src/domain/ids.ts";
import type { JsonValue } from "../../src/domain/json.ts";
import type { CallResult, Message } from "../../src/domain/message.ts";
import type { Phase } from "../../src/domain/phase.ts";
import type { Outcome, RunIdentity } from "../../src/domain/run.ts";
import type { StateChange, StateChanged } from "../../src/domain/state-slots.ts";
import type { Decision, ResumeMode, TicketKind, TicketRecord } from "../../src/domain/ticket.ts";

export const run = "run-1" as RunId;
export const thread = "thread-1" as ThreadId;
export const epoch = 7;
export const startTime = 1_000;

export const identity: RunIdentity = {
  scope: "default" as Scope,
  run,
  thread,
  agent: "support",
  rootRun: run,
  origin: "user",
  mode: "foreground",
  adapter: "internal",
};

export function userSays(text: string, id = "m-1"): Message {
  return { id: id as MessageId, role: "user", parts: [{ type: "text", text }], visibility: "all" };
}

export function created(changes: Partial<RunCreated> = {}): RunCreated {
  const input = changes.input ?? [userSays("hello")];
  return {
    type: "run-created",
    identity,
    request: { origin: "user", key: "key-1", inputIds: input.map((message) => message.id), inputCount: input.length },
    input,
    manifest: { fingerprint: "f-1" as Fingerprint },
    budget: { steps: 50 },
    ...changes,
  };
}

const outside = ["ticket-decided", "input-received", "input-withdrawn", "cancel-requested", "pause-requested"];

/** Numbers and dates the bodies as a store does: seq from 1, one millisecond each. */
export function journal(...bodies: readonly EntryBody[]): Entry[] {
  return bodies.map((body, index) => stamp(body, index + 1));
}

export function stamp(body: EntryBody, seq: number): Entry {
  const byWorker = body.type !== "run-created" && !outside.includes(body.type);
  return { ...body, seq, at: startTime + seq, epoch: byWorker ? epoch : null };
}

export const runStarted: EntryBody = { type: "run-started", position: 0 };
export const appendInput: EntryBody = { type: "message-appended", body: { kind: "created", index: 0 } };
export const runResumed: EntryBody = { type: "run-resumed" };
export const cancelRequested: EntryBody = { type: "cancel-requested", by: "ana", reason: "enough" };
export const pauseRequested: EntryBody = { type: "pause-requested", by: "ana" };

export function runWaiting(...tickets: readonly TicketRecord[]): EntryBody {
  return { type: "run-waiting", tickets: tickets.map((each) => each.id), reasons: tickets.map((each) => each.kind) };
}

export function runEnded(outcome: Outcome = { kind: "completed", reason: "natural" }): EntryBody {
  return { type: "run-ended", outcome };
}

export function stepStarted(step = 1): EntryBody {
  return { type: "step-started", step };
}

export function stepEnded(step = 1): EntryBody {
  return { type: "step-ended", step };
}

const timing = { startBy: 9_000, timeoutMs: 500 };

export function modelIntended(step = 1, attempt = 1): EntryBody {
  const effect = modelEffectId(run, step);
  return { type: "effect-intended", effect, kind: "model", step, attempt, key: effect, ...timing };
}

export function modelSettled(result: Settled = { kind: "done" }, step = 1, attempt = 1): EntryBody {
  return { type: "effect-settled", effect: modelEffectId(run, step), attempt, result };
}

/** Its answer is held back until it is let through. */
export function modelHeld(step = 1, attempt = 1): EntryBody {
  const parts = [{ type: "text", text: `held ${step}` } as const];
  const reply: Message = { id: replyId(run, step), role: "assistant", parts, visibility: "all" };
  return { type: "effect-settled", effect: modelEffectId(run, step), attempt, result: { kind: "done" }, reply };
}

export function said(message: Message): EntryBody {
  return { type: "message-appended", body: { kind: "here", message }, gate: "passed" };
}

export function withheld(message: Message): EntryBody {
  const parts = [{ type: "text", text: "withheld" } as const];
  return { type: "message-appended", body: { kind: "here", message: { ...message, parts } }, gate: "withheld" };
}

export function call(index = 0, step = 1): CallId {
  return callId(run, step, index);
}

/** The model's answer of a step, with as many calls of `tool` as there are inputs. */
export function answered(step: number, inputs: readonly JsonValue[] = [], tool = "refund"): EntryBody {
  const calls = inputs.map((value, index) => {
    return { type: "tool-call", call: call(index, step), tool, input: { kind: "json", value } } as const;
  });
  const parts = [{ type: "text", text: `answer ${step}` } as const, ...calls];
  const message: Message = { id: replyId(run, step), role: "assistant", parts, visibility: "all" };
  return { type: "message-appended", body: { kind: "here", message } };
}

export function callGated(verdict: Verdict = { kind: "allow" }, of: CallId = call()): EntryBody {
  return { type: "call-gated", call: of, verdict };
}

export const ask: Extract<Verdict, { kind: "ask" }> = { kind: "ask", ticket: "approval", prompt: "Refund?" };

export function toolIntended(of: CallId = call(), attempt = 1, generation = 1): EntryBody {
  const effect = toolEffectId(of, generation);
  return { type: "effect-intended", effect, kind: "tool", step: 1, call: of, attempt, key: effect, ...timing };
}

export function toolSettled(result: Settled = { kind: "done" }, of: CallId = call(), attempt = 1): EntryBody {
  return { type: "effect-settled", effect: toolEffectId(of, 1), attempt, result };
}

export function resultAppended(
  result: CallResult = { kind: "value", value: "ok" },
  of: CallId = call(),
  tool = "refund",
): EntryBody {
  const parts = [{ type: "tool-result", call: of, tool, result } as const];
  const message: Message = { id: resultId(of), role: "tool", parts, visibility: "all" };
  return { type: "message-appended", body: { kind: "here", message } };
}

export const unknownResult: Settled = { kind: "unknown", why: "the process died", decidableFrom: 9_500 };

interface TicketChanges extends Partial<Omit<TicketRecord, "call">> {
  readonly of?: CallId;
  readonly resume?: ResumeMode;
}

const onRun: readonly TicketKind[] = ["pause", "timer", "quarantined"];

export function ticket(kind: TicketKind = "approval", changes: TicketChanges = {}): TicketRecord {
  const { of = call(), resume = "replay", ...rest } = changes;
  const generation = rest.generation ?? 1;
  const subject = onRun.includes(kind) ? run : of;
  return {
    id: ticketId(subject, kind, generation),
    kind,
    run,
    rootRun: run,
    thread,
    agent: "support",
    generation,
    hash: "hash-1",
    prompt: "Refund?",
    ...(subject === of ? { call: { id: of, tool: "refund", version: "1", input: { cents: 5 }, resume } } : {}),
    openedAt: startTime,
    ...rest,
  };
}

/** A question of a plugin: it is about the run, not about a call. */
export function question(generation = 1): TicketRecord {
  const id = ticketId(run, "input", generation);
  return ticket("pause", { kind: "input", id, generation, prompt: "Go on?", name: "go-on", plugin: "guard" });
}

export function amended(to: string, from: Fingerprint = "f-1" as Fingerprint): EntryBody {
  const declared = { agent: identity.agent } as DeclaredManifest;
  return { type: "manifest-amended", from, fingerprint: to as Fingerprint, declared, changed: ["refund"] };
}

export function projected(step = 1): ContextProjected {
  const mark = { from: "m-2" as MessageId, before: 1, shortened: [], ratio: 1 };
  const decisions = [{ message: "m-1" as MessageId, reason: "left-out" as const }];
  return { type: "context-projected", step, mark, decisions, tokens: 10, limit: 100 };
}

export function opened(record: TicketRecord = ticket()): EntryBody {
  return { type: "ticket-opened", ticket: record };
}

export function decided(decision: Decision, of: TicketId = ticket().id, by = "ana"): EntryBody {
  return { type: "ticket-decided", ticket: of, decision, by, key: `${of}/${decision.kind}` };
}

/** What the plugin `guard` asked for at a moment; another one where a command says so. */
export function applied(phase: Phase, commands: readonly (Command | GivenCommand)[] = [], subject?: string): EntryBody {
  const given = commands.map((each) => ("plugin" in each ? each : { plugin: "guard", command: each }));
  return { type: "command-applied", phase, commands: given, ...(subject === undefined ? {} : { subject }) };
}

export const pluginError = { code: "plugin-failed", message: "guard threw" };

export function pluginFailed(phase: Phase, subject?: string): EntryBody {
  return { ...applied(phase, [], subject), failed: { plugin: "guard", error: pluginError } } as EntryBody;
}

export function stateChanged(change: StateChange, changes: Partial<StateChanged> = {}): EntryBody {
  return { type: "state-changed", key: "notes", scope: "run", version: 1, change, by: "guard", ...changes };
}

export function inputReceived(id = "in-1"): EntryBody {
  return { type: "input-received", input: id as InputId, message: userSays("more", `m-${id}`), by: "ana" };
}

export function inputWithdrawn(id = "in-1"): EntryBody {
  return { type: "input-withdrawn", input: id as InputId, by: "ana" };
}

export function inputTaken(from: number, id = "in-1"): EntryBody {
  return { type: "message-appended", body: { kind: "input", from, input: id as InputId } };
}

/** A run whose model has just asked for one call per input. */
export function proposed(...inputs: readonly JsonValue[]): EntryBody[] {
  return [
    created(),
    runStarted,
    appendInput,
    stepStarted(),
    modelIntended(),
    modelSettled({ kind: "done", usage: { inputTokens: 10, outputTokens: 4 } }),
    answered(1, inputs),
  ];
}

/** A run that waits for an approval. */
export function waiting(record: TicketRecord = ticket()): EntryBody[] {
  return [...proposed({ cents: 5 }), callGated(ask), opened(record), runWaiting(record)];
}
