/** Legal journals from a list of numbers: at each place the facts that may come next are listed, and a number picks one. */
import { apply, birth } from "../../src/domain/apply.ts";
import type { EffectSettled, Entry, EntryBody, RunCreated, Settled } from "../../src/domain/entry.ts";
import { compactionId, type MessageId, type RunId, toolEffectId } from "../../src/domain/ids.ts";
import type { CallResult } from "../../src/domain/message.ts";
import type { CallState, RunState, StepState } from "../../src/domain/run-state.ts";
import type { Decision, DecisionKind, TicketKind, TicketRecord } from "../../src/domain/ticket.ts";
import { engine, ticketVerbs } from "../../src/domain/ticket.ts";
import * as j from "./journal.ts";
import { pluginFacts } from "./legal-plugins.ts";

export function legalJournal(choices: readonly number[]): Entry[] {
  const first = j.stamp(j.created(), 1) as Entry & RunCreated;
  const entries: Entry[] = [first];
  let state = birth(first);
  for (const choice of choices) {
    const next = nextFacts(state, choice);
    const body = next[Math.floor(choice / 8) % Math.max(next.length, 1)];
    if (!body) break;
    const entry = j.stamp(body, state.seq + 1);
    entries.push(entry);
    state = apply(state, entry);
  }
  return entries;
}

/** Five times out of eight the run works, if it can, and once plugins act: else the outside would fill the journal. */
function nextFacts(state: RunState, choice: number): EntryBody[] {
  if (state.status === "done") return [];
  const facts = [...outsideFacts(state), ...decisions(state)];
  if (state.status === "created") return [j.runStarted, ...facts, ...ends(state)];
  if (state.status === "waiting") return [j.runResumed, ...facts, ...ends(state)];
  if (choice % 8 === 1) return pluginFacts(state);
  if (choice % 16 === 2 && state.step && !state.step.report) return reports(state.step.step);
  if (choice % 32 === 6) return [j.amended(`print-${state.seq}`, state.manifest.fingerprint)];
  if (choice % 32 === 14 && state.step) return compactions(state, state.step);
  const works = work(state);
  if (choice % 4 !== 0 && works.length > 0) return works;
  const waits = state.tickets.length > 0 ? [j.runWaiting(...state.tickets)] : [];
  return [...works, ...facts, ...runTickets(state), ...waits, ...ends(state)];
}

function compactions({ compaction, created }: RunState, { step }: StepState): EntryBody[] {
  if (compaction?.effect.open) {
    const { id, open } = compaction.effect;
    const kinds: Settled[] = [{ kind: "done", finish: "stop" }, { kind: "lost" }, { kind: "aborted" }];
    const failed: Settled = { kind: "failed", error: { code: "model-failed", message: "no" }, retry: "later" };
    return [...kinds, failed].map((result) => ({ type: "effect-settled", effect: id, attempt: open.attempt, result }));
  }
  const effect = compactionId(created.identity.run, (compaction?.generation ?? 0) + 1);
  const attempt = {
    effect,
    kind: "compaction",
    step,
    attempt: 1,
    key: effect,
    startBy: 9_000,
    timeoutMs: 100,
  } as const;
  return [{ type: "effect-intended", ...attempt, upTo: "m-1" as MessageId }, j.projected(step)];
}

function reports(step: number): EntryBody[] {
  return [
    { type: "output-validated", step, report: { valid: true, value: { note: "so far" } }, pending: true },
    { type: "output-validated", step, report: { valid: true, value: { note: "ok" } } },
    { type: "output-validated", step, report: { valid: false, problems: ["$: too short"] } },
  ];
}

function outsideFacts(state: RunState): EntryBody[] {
  const withdrawn = state.inbox.map((input) => j.inputWithdrawn(input.id));
  return [j.inputReceived(`in-${state.seq}`), ...withdrawn, j.cancelRequested, j.pauseRequested];
}

function ends(state: RunState): EntryBody[] {
  if (state.seq % 5 !== 0) return []; // else most journals would be short
  return [j.runEnded(), j.runEnded({ kind: "cancelled" }), j.runEnded({ kind: "timed-out" })];
}

const sample: Readonly<Record<DecisionKind, Decision>> = {
  approve: { kind: "approve" },
  edit: { kind: "edit", input: { cents: 6 } },
  reject: { kind: "reject", reason: "no" },
  answer: { kind: "answer", value: "yes" },
  "mark-done": { kind: "mark-done", result: "done" },
  "mark-failed": { kind: "mark-failed", reason: "it failed" },
  "run-again": { kind: "run-again" },
  release: { kind: "release" },
  "cancel-run": { kind: "cancel-run" },
  elapsed: { kind: "elapsed" },
  expired: { kind: "expired", counts: "reject" },
  closed: { kind: "closed", why: "cancelled" },
  "child-ended": {
    kind: "child-ended",
    run: "child" as RunId,
    agent: "helper",
    outcome: { kind: "completed", reason: "natural" },
    output: "done",
    steps: 1,
    usage: { inputTokens: 0, outputTokens: 0 },
  },
};

function decisions(state: RunState): EntryBody[] {
  return state.tickets.flatMap((ticket) => {
    const byEngine: DecisionKind[] = ticket.kind === "timer" ? ["elapsed", "closed"] : ["closed"];
    const answers = ticketVerbs[ticket.kind].map((kind) => j.decided(sample[kind], ticket.id));
    return [...answers, ...byEngine.map((kind) => j.decided(sample[kind], ticket.id, engine))];
  });
}

function runTickets(state: RunState): EntryBody[] {
  const open = (kind: TicketKind, generation: number): EntryBody => j.opened(j.ticket(kind, { generation }));
  const pause = state.pause && !isAsked(state, "pause") ? [open("pause", state.pauses + 1)] : [];
  return [...pause, open("timer", state.timers + 1), open("quarantined", state.quarantines + 1)];
}

function isAsked(state: RunState, kind: TicketKind, call?: CallState): boolean {
  return state.tickets.some((ticket: TicketRecord) => ticket.kind === kind && ticket.call?.id === call?.id);
}

function work(state: RunState): EntryBody[] {
  const { step } = state;
  if (state.appended < state.inputCount) return [j.appendInput];
  const taken = state.inbox.map((input) => j.inputTaken(input.seq, input.id));
  if (!step || step.ended) return [j.stepStarted((step?.step ?? 0) + 1), ...taken];
  if (step.calls.length > 0) {
    const moves = step.calls.flatMap((call) => callFacts(state, step, call));
    if (moves.length > 0) return moves;
    return step.calls.every((call) => call.status === "settled") ? [j.stepEnded(step.step)] : [];
  }
  return modelFacts(step);
}

function modelFacts({ step, model, pending, said }: StepState): EntryBody[] {
  if (model.open) {
    const settled = settledKinds.map((result) => j.modelSettled(result, step, model.attempt));
    return [...settled, j.modelHeld(step, model.attempt)];
  }
  if (pending) return [j.said(pending.message), j.withheld(pending.message)];
  if (said) return [j.stepEnded(step)];
  if (model.last?.kind !== "done") return [j.modelIntended(step, model.attempt + 1)];
  return [j.answered(step, [{ cents: 1 }]), j.answered(step, [{ cents: 1 }, { cents: 2 }, "x"])];
}

const settledKinds: readonly Settled[] = [
  { kind: "done", usage: { inputTokens: 3, outputTokens: 2 } },
  { kind: "failed", error: { code: "tool-failed", message: "boom" }, retry: "never" },
  { kind: "refused", code: "invalid-input", message: "bad" },
  { kind: "not-made" },
  { kind: "lost" },
  { kind: "aborted" },
];

/** Of a tool: alone, or with its answer where plugins wait with it. */
const settlements: readonly Pick<EffectSettled, "result" | "answered">[] = [
  ...settledKinds.map((result) => ({ result })),
  ...settledKinds.map((result) => ({ result, ...(isEnd(result) ? { answered: answerOf(result) } : {}) })),
];

function isEnd({ kind }: Settled): boolean {
  return kind !== "lost" && kind !== "not-made";
}

function callFacts(state: RunState, { step }: StepState, call: CallState): EntryBody[] {
  const attempt = call.effect?.attempt ?? 0;
  const effect = toolEffectId(call.id, call.keyGeneration);
  switch (call.status) {
    case "proposed":
      return [
        j.callGated({ kind: "allow" }, call.id),
        j.callGated(j.ask, call.id),
        j.callGated({ kind: "refuse", code: "invalid-input", message: "bad" }, call.id),
        j.callGated({ kind: "refuse", code: "denied", message: "no", stop: true, by: "guard" }, call.id),
        j.callGated({ kind: "result", result: { kind: "value", value: "known" }, by: "guard" }, call.id),
        j.callGated({ kind: "allow", input: { cents: 3 }, by: "guard" }, call.id),
      ];
    case "asked":
      if (isAsked(state, "approval", call)) return [];
      return [j.opened(j.ticket("approval", { of: call.id, generation: call.asked + 1, resume: resumeOf(call) }))];
    case "ready": {
      const next = call.effect?.id === effect ? attempt + 1 : 1;
      return [{ ...j.toolIntended(call.id, next, call.keyGeneration), step } as EntryBody];
    }
    case "running":
      return [...settlements, { result: j.unknownResult }].map((how) => ({
        type: "effect-settled",
        effect,
        attempt,
        ...how,
      }));
    case "unknown":
      if (isAsked(state, "unknown-outcome", call)) return [];
      return [
        j.opened(j.ticket("unknown-outcome", { of: call.id, generation: call.unknownTickets + 1 })),
        ...(call.unknownTickets === 0 || state.cancel ? [j.resultAppended(unknownSaid, call.id)] : []),
      ];
    case "concluded":
      return [j.resultAppended(call.result ?? answerOf(call.effect?.last), call.id)];
    case "settled":
      return [];
    default:
      return call.status satisfies never;
  }
}

const unknownSaid = { kind: "error", code: "outcome-unknown", message: "nobody knows" } as const;

function resumeOf(call: CallState): "replay" | "pass-decision-to-tool" {
  return call.index === 1 ? "pass-decision-to-tool" : "replay";
}

function answerOf(last: Settled | undefined): CallResult {
  if (last?.kind === "done") return { kind: "value", value: "ok" };
  return { kind: "error", code: last?.kind === "aborted" ? "aborted" : "tool-failed", message: "it did not work" };
}
