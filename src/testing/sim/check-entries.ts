/** Transition checks on entries: each new one is held against everything the journal said before it. */
import type {
  EffectIntended,
  EffectSettled,
  Entry,
  EntryStamp,
  MessageAppended,
  RunEnded,
} from "../../domain/entry.ts";
import type { InputId } from "../../domain/ids.ts";
import { callsOf } from "../../domain/message.ts";
import { mustAsk, onceTools, type SimInput } from "./sim-tools.ts";
import type { Report } from "./violations.ts";
import { answersOf, foldInto, type Watch, type WatchedRun } from "./watch.ts";

export interface EntryCheck {
  readonly run: WatchedRun;
  readonly watch: Watch;
  readonly report: Report;
  /** Looks too, before the run is as the entry leaves it. */
  readonly entry?: ((entry: Entry, run: WatchedRun) => void) | undefined;
}

export function checkEntry(entry: Entry, check: EntryCheck): void {
  const { run, report } = check;
  if (run.state.status === "done") report("nothing-after-end", `${run.key.run}: ${entry.type} at ${entry.seq}`);
  if (entry.epoch !== null && entry.epoch !== run.row.epoch) {
    report("stale-epoch", `${run.key.run}: ${entry.type} of epoch ${entry.epoch}, the run is at ${run.row.epoch}`);
  }
  check.entry?.(entry, run);
  checkBody(entry, check);
  run.entries.push(entry);
  try {
    foldInto(run, entry);
  } catch (cause) {
    report("fold-refuses", `${run.key.run}: ${String(cause)}`);
  }
}

function checkBody(entry: Entry, check: EntryCheck): void {
  const { run, report } = check;
  switch (entry.type) {
    case "effect-intended":
      return checkIntent(entry, check);
    case "effect-settled":
      return checkSettled(entry, check);
    case "run-started":
      return checkAlone(check);
    case "run-ended":
      return checkEnd(entry, check);
    case "message-appended":
      return checkMessage(entry, check);
    case "ticket-opened":
      if (run.tickets.has(entry.ticket.id)) report("ticket-once", `${entry.ticket.id} is opened twice`);
      run.tickets.set(entry.ticket.id, { ticket: entry.ticket });
      return;
    case "ticket-decided": {
      const known = run.tickets.get(entry.ticket);
      if (!known) return report("ticket-once", `${entry.ticket} is decided and was never opened`);
      if (known.decided) return report("ticket-once", `${entry.ticket} is decided again at ${entry.seq}`);
      known.decided = entry;
      if (entry.decision.kind === "cancel-run") run.cancelSeq ??= entry.seq;
      return;
    }
    case "cancel-requested":
      run.cancelSeq ??= entry.seq;
      return;
    default:
      return;
  }
}

function checkIntent(entry: EntryStamp & EffectIntended, check: EntryCheck): void {
  const { run, report } = check;
  const what = `${entry.effect}#${entry.attempt}`;
  if (run.cancelSeq !== undefined) report("intent-after-cancel", `${what} at ${entry.seq}, cancel at ${run.cancelSeq}`);
  if (run.open.has(entry.effect)) report("settles-open-intent", `${what} is intended over an open attempt`);
  const earlier = run.intents.find((each) => each.effect === entry.effect);
  if (earlier && earlier.key !== entry.key) report("key-stable", `${what} has another key than attempt 1`);
  run.open.set(entry.effect, entry);
  run.intents.push(entry);
  if (entry.call === undefined) return;
  const call = run.calls.get(entry.call);
  if (!call) return report("gate", `${what} belongs to no call of the journal`);
  const answers = answersOf(run, entry.call);
  if (answers.some(({ decided }) => !decided)) report("gate", `${what} is intended while a ticket of it is open`);
  const last = answers.at(-1)?.decided?.decision.kind;
  const allowed = last === "approve" || last === "edit" || (last === "answer" && call.tool === "form");
  const asks = call.input !== undefined && mustAsk(call.tool, call.input as unknown as SimInput);
  if (asks && !allowed) report("gate", `${what} (${call.tool}) is intended after ${last ?? "no answer"}`);
}

function checkSettled(entry: EntryStamp & EffectSettled, check: EntryCheck): void {
  const { run, watch, report } = check;
  const open = run.open.get(entry.effect);
  if (open?.attempt !== entry.attempt) {
    return report("settles-open-intent", `${entry.effect}#${entry.attempt} is settled and not open`);
  }
  run.open.delete(entry.effect);
  const { result } = entry;
  const tool = open.call === undefined ? undefined : run.calls.get(open.call)?.tool;
  if (tool === undefined || !onceTools.includes(tool)) return;
  if (result.kind !== "refused" || result.code === "invalid-result") return;
  run.refusedKeys.add(open.key);
  if (watch.landed(open.key))
    report("refused-means-nothing", `${entry.effect} settled as ${result.code}, but it landed`);
}

function checkAlone({ run, watch, report }: EntryCheck): void {
  for (const other of watch.runs.values()) {
    const active = other.state.status === "running" || other.state.status === "waiting";
    if (other !== run && active && other.row.thread === run.row.thread) {
      report("one-active-run", `${run.key.run} starts on ${run.row.thread} while ${other.key.run} is active`);
    }
  }
}

function checkEnd(entry: EntryStamp & RunEnded, { run, report }: EntryCheck): void {
  const { run: id } = run.key;
  if (run.cancelSeq !== undefined && entry.outcome.kind !== "cancelled") {
    report("end-over-cancel", `${id} ends as ${entry.outcome.kind}, cancel was asked for at ${run.cancelSeq}`);
  }
  for (const effect of run.open.keys()) report("closed-at-end", `${id} ends with ${effect} open`);
  for (const { ticket, decided } of run.tickets.values()) {
    if (!decided) report("closed-at-end", `${id} ends with ticket ${ticket.id} open`);
  }
  for (const [call, { results }] of run.calls) {
    if (results !== 1) report("one-result", `${id} ends, call ${call} has ${results} results`);
  }
}

function checkMessage(entry: EntryStamp & MessageAppended, check: EntryCheck): void {
  const { body } = entry;
  if (body.kind === "input") return checkInput(body.input, check);
  if (body.kind !== "here") return;
  const { run, report } = check;
  for (const part of callsOf(body.message)) {
    const input = part.input.kind === "json" ? part.input.value : undefined;
    run.calls.set(part.call, { tool: part.tool, input, results: 0 });
  }
  for (const part of body.message.parts) {
    if (part.type !== "tool-result") continue;
    const call = run.calls.get(part.call);
    if (call?.results !== 0) report("one-result", `call ${part.call} gets a result too many`);
    if (call) call.results += 1;
  }
}

function checkInput(input: InputId, { run, report }: EntryCheck): void {
  const taken = (run.takenInputs.get(input) ?? 0) + 1;
  run.takenInputs.set(input, taken);
  if (taken > 1) report("inputs-once", `${run.key.run} takes input ${input} again`);
}
