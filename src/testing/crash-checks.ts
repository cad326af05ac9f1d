/**
 * What must hold of every run that has ended, however it was cut.
 *
 * K1 seq is gapless, run-created is first, run-ended is last and the only one.
 * K2 Every call has exactly one result message.
 * K3 Every ticket is decided exactly once, and only after it was opened.
 * K4 Every settlement closes the attempt that is open; no intent is left open.
 * K5 Every input is read once, withdrawn, replaced, left to the successor, or named unread by a cancelled run: one of these.
 * K6 An unknown outcome has exactly one ticket, or none and the transcript says so; none once a cancel was asked for.
 * K7 The store's rows (run, tickets, thread, snapshot) say what the journal says.
 * K8 What plugins said at a moment is written at most once.
 * K9 What a plugin or tool wrote of state stands with the entry that ends its moment or attempt, or not at all.
 * K10 A thread's state is what its runs wrote, one after the other.
 * K11 After every entry the output is what was last reported as valid of the present step, or none; a run with an output
 *     completes only with that, marks no other message as its answer, asks for no more repairs than it may, and treats an
 *     answer as no effect (O1, O2).
 */
import { foldAll } from "../domain/apply.ts";
import type { Entry } from "../domain/entry.ts";
import type { JsonValue } from "../domain/json.ts";
import { callsOf } from "../domain/message.ts";
import type { OutputSpec } from "../domain/output.ts";
import type { RunState } from "../domain/run-state.ts";
import { loadState } from "../engine/load.ts";
import { readManifest } from "../engine/read-manifest.ts";
import type { Store } from "../ports/store.ts";
import { outputProblems } from "./crash-output.ts";
import { momentProblems, slotLines, writeProblems } from "./crash-state.ts";
import type { RunStory } from "./crash-story.ts";

export async function problemsOf(story: RunStory, store: Store): Promise<readonly string[]> {
  const found = [
    ...orderProblems(story.entries),
    ...resultProblems(story),
    ...ticketProblems(story),
    ...effectProblems(story.entries),
    ...inputProblems(story.entries, await successorIn(story, store)),
    ...unknownProblems(story.entries),
    ...rowProblems(story),
    ...momentProblems(story.entries),
    ...writeProblems(story.entries),
    ...(await foldProblems(story, store)),
    ...(story.state ? outputProblems(story.entries, await outputIn(story.state, store)) : []),
  ];
  return found.map((problem) => `run ${story.key}: ${problem}`);
}

/** K1. */
function orderProblems(entries: readonly Entry[]): string[] {
  const problems: string[] = [];
  const gap = entries.findIndex((entry, index) => entry.seq !== index + 1);
  if (gap >= 0) problems.push(`seq ${entries[gap]?.seq} stands in place ${gap + 1}`);
  const count = (type: Entry["type"]): number => entries.filter((entry) => entry.type === type).length;
  if (count("run-created") !== 1 || entries[0]?.type !== "run-created") problems.push("it does not begin once");
  if (count("run-ended") !== 1) problems.push(`it has ${count("run-ended")} run-ended`);
  else if (entries.at(-1)?.type !== "run-ended") problems.push(`${entries.at(-1)?.type} follows run-ended`);
  return problems;
}

/** K2. */
function resultProblems({ messages }: RunStory): string[] {
  const results = messages.flatMap((message) => message.parts.filter((part) => part.type === "tool-result"));
  const calls = messages.flatMap((message) => callsOf(message));
  const counted = calls.map(({ call }) => ({ call, count: results.filter((each) => each.call === call).length }));
  const wrong = counted
    .filter(({ count }) => count !== 1)
    .map(({ call, count }) => `call ${call} has ${count} results`);
  return results.length > calls.length ? [...wrong, "there are results without a call"] : wrong;
}

/** K3. */
function ticketProblems({ entries }: RunStory): string[] {
  const problems: string[] = [];
  const open = new Set<string>();
  const known = new Set<string>();
  for (const entry of entries) {
    if (entry.type === "ticket-opened") {
      if (known.has(entry.ticket.id)) problems.push(`ticket ${entry.ticket.id} is opened twice`);
      known.add(entry.ticket.id);
      open.add(entry.ticket.id);
    }
    if (entry.type !== "ticket-decided") continue;
    if (!open.delete(entry.ticket)) {
      problems.push(`ticket ${entry.ticket} is decided ${known.has(entry.ticket) ? "again" : "before it is opened"}`);
    }
  }
  return [...problems, ...[...open].map((ticket) => `ticket ${ticket} is never decided`)];
}

/** K4. */
function effectProblems(entries: readonly Entry[]): string[] {
  const problems: string[] = [];
  const open = new Map<string, number>();
  for (const entry of entries) {
    if (entry.type === "effect-intended") {
      if (open.has(entry.effect)) problems.push(`effect ${entry.effect} is intended while it is in flight`);
      open.set(entry.effect, entry.attempt);
    }
    if (entry.type !== "effect-settled") continue;
    if (open.get(entry.effect) !== entry.attempt) {
      problems.push(`effect ${entry.effect}: attempt ${entry.attempt} is settled but not open`);
    }
    open.delete(entry.effect);
  }
  return [...problems, ...[...open.keys()].map((effect) => `effect ${effect} is never settled`)];
}

/** K5. */
function inputProblems(entries: readonly Entry[], successor: Entry | undefined): string[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "input-received") return [];
    const { input, message } = entry;
    const ways = entries.flatMap((each) => wayOf(each, input) ?? []);
    const isLeft = successor?.type === "run-created" && successor.input.some(({ id }) => id === message.id);
    if (isLeft) ways.push("left to the successor");
    return ways.length === 1 ? [] : [`input ${input} is ${ways.join(" and ") || "lost"}`];
  });
}

/** What an entry makes of an input, if anything. */
function wayOf(entry: Entry, input: string): string | undefined {
  switch (entry.type) {
    case "message-appended":
      return entry.body.kind === "input" && entry.body.input === input ? "read" : undefined;
    case "input-withdrawn":
      return entry.input === input ? "withdrawn" : undefined;
    case "input-received":
      return entry.replaces === input ? "replaced" : undefined;
    case "run-ended":
      return entry.outcome.kind === "cancelled" && entry.unread?.some((id) => id === input) ? "unread" : undefined;
    default:
      return undefined;
  }
}

/** The birth of the run that the end of this one names. */
async function successorIn({ entries, row }: RunStory, store: Store): Promise<Entry | undefined> {
  const last = entries.at(-1);
  if (last?.type !== "run-ended" || last.successor === undefined) return undefined;
  const [created] = await store.readRun({ scope: row.scope, run: last.successor, after: 0, limit: 1 });
  return created;
}

/** K6. */
function unknownProblems(entries: readonly Entry[]): string[] {
  return unknownEffects(entries).flatMap(({ effect, seq }) => {
    const call = effect.split("~")[0] ?? effect;
    const again = entries.find((each) => each.seq > seq && each.type === "effect-intended" && each.call === call);
    const until = again?.seq ?? Number.POSITIVE_INFINITY;
    const tickets = entries.filter((each) => isUnknownTicket(each, call) && each.seq > seq && each.seq < until).length;
    const ending = entries.some((each) => each.seq < seq && endsTheRun(each));
    if (tickets > 1 || (tickets === 1 && ending)) return [`effect ${effect}: ${tickets} unknown-outcome tickets`];
    return tickets === 0 && !isToldUnknown(entries, call) ? [`effect ${effect}: nobody was asked or told`] : [];
  });
}

/** Without a ticket the transcript itself says that the outcome is unknown. */
function isToldUnknown(entries: readonly Entry[], call: string): boolean {
  return entries.some((entry) => {
    if (entry.type !== "message-appended" || entry.body.kind !== "here") return false;
    const [part] = entry.body.message.parts;
    if (part?.type !== "tool-result" || part.call !== call) return false;
    return part.result.kind === "error" && part.result.code === "outcome-unknown";
  });
}

function endsTheRun(entry: Entry): boolean {
  if (entry.type === "cancel-requested") return true;
  return entry.type === "ticket-decided" && entry.decision.kind === "cancel-run";
}

function isUnknownTicket(entry: Entry, call: string): boolean {
  return entry.type === "ticket-opened" && entry.ticket.kind === "unknown-outcome" && entry.ticket.call?.id === call;
}

export function unknownEffects(entries: readonly Entry[]): readonly { effect: string; seq: number }[] {
  return entries.flatMap((entry) =>
    entry.type === "effect-settled" && entry.result.kind === "unknown"
      ? [{ effect: entry.effect, seq: entry.seq }]
      : [],
  );
}

/** K7. */
function rowProblems({ row, entries, tickets, messages, thread }: RunStory): string[] {
  const problems: string[] = [];
  if (row.status !== "done") problems.push(`its row says ${row.status}`);
  if (row.head !== entries.length) problems.push(`its row's head is ${row.head} of ${entries.length}`);
  for (const { ticket, settlement } of tickets) {
    const decided = entries.find((entry) => entry.type === "ticket-decided" && entry.ticket === ticket.id);
    if (settlement?.seq !== decided?.seq) problems.push(`the row of ticket ${ticket.id} differs from the journal`);
  }
  const opened = entries.filter((entry) => entry.type === "ticket-opened").length;
  if (opened !== tickets.length) problems.push(`${tickets.length} ticket rows for ${opened} tickets`);
  const ids = new Set(messages.map((message) => message.id));
  const mine = thread.filter((message) => ids.has(message.id));
  if (mine.length !== messages.length) problems.push(`the thread has ${mine.length} of ${messages.length} messages`);
  return problems;
}

async function foldProblems({ row, entries }: RunStory, store: Store): Promise<string[]> {
  try {
    const folded = JSON.stringify(foldAll(entries)); // once more: it says why it does not fold
    const { state } = await loadState(row, store);
    return sorted(folded) === sorted(JSON.stringify(state)) ? [] : ["its snapshot folds to another state"];
  } catch (cause) {
    return [`its journal does not fold: ${String(cause)}`];
  }
}

async function outputIn(state: RunState, store: Store): Promise<OutputSpec | undefined> {
  return (await readManifest(state, store)).declared.output;
}

/** Key order is not part of a state. */
function sorted(json: string): string {
  return JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** K10. A thread's runs follow one another: the last one that wrote a key has written what stands there. */
export function threadProblems(stories: readonly RunStory[]): readonly string[] {
  const threads = Map.groupBy(stories, ({ row }) => row.thread);
  return [...threads].flatMap(([thread, runs]) => {
    const inTurn = [...runs].sort((a, b) => (a.row.startPosition ?? 0) - (b.row.startPosition ?? 0));
    const written = Object.assign({}, ...inTurn.map(({ state }) => state?.threadSlots ?? {})) as Written;
    const wanted = slotLines(Object.entries(written).map(([key, { value }]) => ({ key, value })));
    const found = inTurn.at(-1)?.threadState ?? [];
    const isSame = wanted.join("\n") === found.join("\n");
    return isSame ? [] : [`thread ${thread} holds [${found.join("; ")}] instead of [${wanted.join("; ")}]`];
  });
}

type Written = Readonly<Record<string, { readonly value: JsonValue }>>;
