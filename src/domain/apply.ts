/**
 * apply: RunState × Entry → RunState, pure. The only place that says what a fact means.
 *
 * A1 seq moves by exactly one: a gap throws, so a broken journal cannot be folded silently.
 * A2 status moves only along the legal table; nothing follows run-ended.
 * A3 a settlement closes only the attempt that is open.
 * A4 a decision touches only the ticket it names, only while that ticket is open, and only with a verb of its kind.
 * A5 a call gets its one result, and no other; it is judged while proposed and intended while ready.
 */
import {
  applyCallEffect,
  applyDecision,
  applyGate,
  applyOpened,
  openCalls,
  reconsider,
  settleCall,
} from "./apply-call.ts";
import { applyCompaction, isCompaction } from "./apply-compaction.ts";
import { afterHearing, applyCommands, startStep, whileIntended } from "./apply-plugins.ts";
import { applyAbort, isAbort, noteTask, noteTurn } from "./apply-remote.ts";
import { addUsage, type EffectEntry, keepBooks, nextEffect, stepOf } from "./apply-step.ts";
import { isOfTask, settleTask, tellTask } from "./background.ts";
import type {
  CancelRequested,
  Entry,
  EntryStamp,
  InputReceived,
  ManifestAmended,
  MessageAppended,
  OutputValidated,
  RunCreated,
  RunEnded,
  RunWaiting,
} from "./entry.ts";
import { HoldfastError } from "./errors.ts";
import { asJson, markKey, markVersion } from "./history.ts";
import { callsOf, type Message } from "./message.ts";
import { noPlugins } from "./plugin-state.ts";
import { move } from "./run.ts";
import type { RunState } from "./run-state.ts";
import { changeSlot, slotOf } from "./state-slots.ts";

export function birth(entry: EntryStamp & RunCreated): RunState {
  const { type: _type, input, seq, at, epoch: _epoch, ...created } = entry;
  return {
    created,
    manifest: created.manifest,
    inputCount: input.length,
    seq,
    status: "created",
    createdAt: at,
    updatedAt: at,
    position: 0,
    appended: 0,
    stepsEnded: 0,
    usage: { inputTokens: 0, outputTokens: 0 },
    children: 0,
    tickets: [],
    inbox: [],
    unknowns: [],
    slots: {},
    threadSlots: {},
    plugins: noPlugins,
    invalidOutputs: 0,
    timers: 0,
    pauses: 0,
    quarantines: 0,
    missed: 0,
  };
}

export function foldAll(entries: readonly Entry[]): RunState {
  const [first, ...rest] = entries;
  if (first?.type !== "run-created") {
    throw new HoldfastError("entry-unreadable", `A journal begins with run-created, not ${first?.type ?? "nothing"}`);
  }
  return fold(birth(first), rest);
}

export function fold(state: RunState, entries: readonly Entry[]): RunState {
  let folded = state;
  for (const entry of entries) {
    // An answer and a nudge may bring the same entry.
    if (entry.seq > folded.seq) folded = apply(folded, entry);
  }
  return folded;
}

export function apply(state: RunState, entry: Entry): RunState {
  const run = state.created.identity.run;
  if (entry.seq !== state.seq + 1) {
    throw new HoldfastError("entry-unreadable", `Run ${run}: entry ${entry.seq} does not follow ${state.seq}`);
  }
  if (state.status === "done") {
    throw new HoldfastError("illegal-transition", `Run ${run}: ${entry.type} after run-ended`);
  }
  return { ...applyBody(state, entry), seq: entry.seq, updatedAt: entry.at };
}

function applyBody(state: RunState, entry: Entry): RunState {
  switch (entry.type) {
    case "run-created":
      throw twice(state, "created");
    case "run-started":
      if (state.startedAt !== undefined) throw twice(state, "started");
      return { ...state, status: move(state.status, "running"), startedAt: entry.at, position: entry.position };
    case "run-waiting":
      return { ...asked(state, entry), status: move(state.status, "waiting"), waitingSince: entry.epoch };
    case "run-resumed": {
      const { waitingSince: _since, ...rest } = state;
      return { ...rest, status: move(state.status, "running") };
    }
    case "run-ended":
      return ended(state, entry);
    case "step-started":
      if (state.startedAt === undefined || (state.step && !state.step.ended)) throw twice(state, "in a step");
      return startStep(begun(state), entry.step);
    case "step-ended":
      return { ...state, stepsEnded: state.stepsEnded + 1, step: { ...stepOf(state, entry), ended: true } };
    case "context-projected":
      if (entry.own) return { ...state, ownMark: entry.mark };
      return { ...state, threadSlots: { ...state.threadSlots, [markKey]: slotOf(asJson(entry.mark), markVersion) } };
    case "effect-intended":
    case "effect-settled":
      if (isOfTask(state, entry)) return settleTask(state, entry);
      return isCompaction(state, entry) ? applyCompaction(state, entry) : applyEffect(state, entry);
    case "call-gated":
      return applyGate(state, entry);
    case "message-appended":
      return applyMessage(state, entry);
    case "command-applied":
      return applyCommands(state, entry);
    case "manifest-amended":
      return applyAmendment(state, entry);
    case "output-validated":
      return applyReport(state, entry);
    case "state-changed":
      if (entry.scope === "thread") return { ...state, threadSlots: changeSlot(state.threadSlots, entry) };
      return noteTask({ ...state, slots: changeSlot(state.slots, entry) }, entry);
    case "ticket-opened":
      return applyOpened(state, entry);
    case "ticket-decided":
      return applyDecision(state, entry);
    default:
      return applyOutside(state, entry);
  }
}

function asked(state: RunState, { stopping = [], at }: EntryStamp & RunWaiting): RunState {
  if (stopping.length === 0 && !state.stopping) return state;
  const stopWait = { at, rounds: (state.stopWait?.rounds ?? 0) + 1 };
  return { ...state, stopping: [...(state.stopping ?? []), ...stopping], stopWait };
}

function ended(state: RunState, { at, outcome, unsaid, descendants }: EntryStamp & RunEnded): RunState {
  const kept = unsaid ? withoutAnswer(state) : state;
  const stopping = descendants ? { stopping: descendants } : {};
  return { ...kept, ...stopping, status: move(state.status, "done"), endedAt: at, outcome };
}

function applyAmendment(state: RunState, entry: EntryStamp & ManifestAmended): RunState {
  const { fingerprint, from, changed, seq } = entry;
  if (state.manifest.fingerprint !== from) throw twice(state, `no longer on manifest ${from}`);
  if (entry.handoff) return handedOver(state, entry);
  const { handoff: _handoff, ...rest } = state; // its tool may be gone
  const amended = { ...rest, manifest: { ...state.manifest, fingerprint, amendedAt: seq } };
  return state.step ? { ...amended, step: { ...state.step, calls: reconsider(state, changed) } } : amended;
}

/** What plugins of the agent before have planned goes with it. */
function handedOver(state: RunState, entry: EntryStamp & ManifestAmended): RunState {
  const { handoff: _handoff, manifest, ...rest } = state;
  const { decided, opened } = state.plugins;
  const plugins = { ...noPlugins, decided, opened };
  return { ...rest, manifest: nextManifest(state, entry), plugins, arrived: true };
}

function nextManifest(state: RunState, entry: EntryStamp & ManifestAmended): RunState["manifest"] {
  const { givers = [], ...present } = state.manifest;
  if (entry.handoff === "over") {
    const agent = entry.declared ? { agent: entry.declared.agent } : {};
    return { fingerprint: entry.fingerprint, amendedAt: entry.seq, ...agent, givers: [...givers, present] };
  }
  const giver = givers.at(-1);
  if (giver?.fingerprint !== entry.fingerprint) throw twice(state, "handed back");
  return givers.length > 1 ? { ...giver, givers: givers.slice(0, -1) } : giver;
}

function begun({ arrived: _arrived, ...state }: RunState): RunState {
  return state;
}

function applyReport(state: RunState, entry: EntryStamp & OutputValidated): RunState {
  const { reportPending, ...step } = stepOf(state, entry);
  const { report, pending } = entry;
  if (step.report && (!reportPending || pending)) {
    throw twice(state, `checked as to its output in step ${step.step}`);
  }
  const checked = { ...state, step: { ...step, report, ...(pending ? { reportPending: true as const } : {}) } };
  if (report.valid && pending) return checked;
  if (report.valid) return { ...checked, output: { value: report.value } };
  return { ...checked, invalidOutputs: state.invalidOutputs + 1 };
}

function twice(state: RunState, what: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Run ${state.created.identity.run} is already ${what}`);
}

function applyOutside(
  state: RunState,
  entry: Extract<Entry, { type: "input-received" | "input-withdrawn" | "cancel-requested" | "pause-requested" }>,
): RunState {
  switch (entry.type) {
    case "input-received":
      return { ...state, inbox: received(state, entry) };
    case "input-withdrawn":
      return { ...state, inbox: state.inbox.filter((input) => input.id !== entry.input) };
    case "cancel-requested":
      if (state.cancel) return state;
      return {
        ...state,
        cancel: { by: entry.by, at: entry.at, seq: entry.seq, ...reasonOf(entry), ...insteadOf(entry) },
      };
    case "pause-requested":
      return state.pause ? state : { ...state, pause: { by: entry.by, ...reasonOf(entry) } };
    default: {
      const unknown: { readonly type: string } = entry satisfies never;
      throw new HoldfastError(
        "entry-unreadable",
        `Run ${state.created.identity.run}: no entry is called ${unknown.type}`,
      );
    }
  }
}

function received(state: RunState, entry: EntryStamp & InputReceived): RunState["inbox"] {
  const input = { id: entry.input, seq: entry.seq };
  if (entry.replaces === undefined) return [...state.inbox, input];
  return state.inbox.map((each) => (each.id === entry.replaces ? input : each));
}

function insteadOf({ instead }: CancelRequested): Pick<CancelRequested, "instead"> {
  return instead === undefined ? {} : { instead };
}

function reasonOf(entry: { readonly reason?: string }): { reason?: string } {
  return entry.reason === undefined ? {} : { reason: entry.reason };
}

function applyEffect(before: RunState, entry: EffectEntry): RunState {
  const state = entry.type === "effect-intended" ? afterHearing(before) : before;
  const step = stepOf(state, entry);
  if (isAbort(state, entry)) return applyAbort(state, entry);
  const isTurn = entry.type === "effect-intended" && entry.kind === "remote";
  if (entry.effect !== step.model.id && !isTurn) return applyCallEffect(state, entry);
  const model = nextEffect(step.model, entry);
  const held = entry.type === "effect-settled" && entry.reply ? { pending: { message: entry.reply } } : {};
  const next = keepBooks({ ...state, step: { ...step, model, ...held }, usage: addUsage(state, entry) }, entry);
  const noted = noteTurn(next, entry);
  return entry.type === "effect-intended" && entry.attempt === 1 ? whileIntended(noted, step.step) : noted;
}

function applyMessage(state: RunState, entry: EntryStamp & MessageAppended): RunState {
  const { body } = entry;
  const next = { ...state, appended: state.appended + 1 };
  if (body.kind === "created") return next;
  if (body.kind === "input") return { ...next, inbox: state.inbox.filter((input) => input.id !== body.input) };
  if (body.message.role !== "tool" && body.message.role !== "assistant") return tellTask(next, body.message);
  const place = state.position + next.appended;
  const made = { ...next, firstOutput: state.firstOutput ?? place, lastOutput: place };
  if (body.message.role === "tool") return settleCalls(made, body.message);
  const { pending: _pending, ...step } = stepOf(state, { type: "message-appended", body });
  if (entry.gate === "withheld") return { ...withoutAnswer(made), step };
  const said = entry.gate === "passed" ? { said: true as const } : {};
  return { ...made, answer: entry.seq, step: { ...step, ...said, calls: openCalls(callsOf(body.message)) } };
}

function withoutAnswer({ answer: _answer, ...state }: RunState): RunState {
  return state;
}

function settleCalls(state: RunState, message: Message): RunState {
  let settled = state;
  for (const part of message.parts) {
    if (part.type !== "tool-result") continue;
    settled = settleCall(settled, part.call);
  }
  return settled;
}
