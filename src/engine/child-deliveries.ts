/** What runs and their delegates tell each other: births, ends, requests to end, and what is dropped. */
import { taskText } from "../domain/delegate.ts";
import type { EffectIntended, EntryBody, RunCreated, RunEnded } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { childKey, type MessageId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { fingerprintOf } from "../domain/manifest.ts";
import { type Message, textOf } from "../domain/message.ts";
import type { RunState } from "../domain/run-state.ts";
import { engine } from "../domain/ticket.ts";
import type { Hash } from "../ports/hash.ts";
import type { Delivery } from "../ports/outbox-store.ts";
import type { BoundDelegate } from "./bound-delegate.ts";
import type { BoundAgent } from "./deps.ts";

export interface Family {
  readonly delegates: BoundAgent["delegates"];
  readonly hash: Hash;
  /** The entry that holds the answer, where an earlier commit brought it. */
  readonly entryAt: (seq: number) => Promise<EntryBody | undefined>;
}

interface Caused {
  readonly entries: readonly EntryBody[];
  readonly state: RunState;
}

/** In the order of the entries: a run that is asked to end has been born before. */
export async function familyTold(caused: Caused, family: Family): Promise<readonly Delivery[]> {
  const { entries, state } = caused;
  const deliveries: Delivery[] = [];
  for (const entry of entries) {
    if (entry.type === "effect-intended" && entry.child) deliveries.push(birthOf(entry, state, family));
    if (entry.type === "effect-settled" && entry.dropped) deliveries.push({ to: "drop", thread: entry.dropped });
    if (entry.type === "run-waiting") deliveries.push(...cancelsOf(entry.stopping ?? [], state));
    if (entry.type === "run-ended" && state.created.delegated) {
      deliveries.push(endOf(entry, state, await outputOf(caused, family)));
    }
  }
  return deliveries;
}

/** C2. */
function birthOf(entry: EffectIntended, state: RunState, { delegates, hash }: Family): Delivery {
  const ticket = state.tickets.find((each) => each.child && each.call?.id === entry.call);
  const call = ticket?.call; // the step may be over already
  const lent = call && delegates.get(call.tool);
  const { child } = entry;
  if (!call || !ticket || !lent || !child) {
    throw new HoldfastError("illegal-transition", `Effect ${entry.effect} intends a run of nobody`);
  }
  const { identity, priority } = state.created;
  const { scope, run, thread, rootRun, agent, session } = identity;
  const manifest = lent.manifest();
  const key = childKey(call.id, (text) => hash.sha256(text));
  const input = messageOf(child.run, call.input, run);
  const path = [...(state.created.delegated?.path ?? []), { run, agent, call: call.id, delegate: call.tool }];
  const created: RunCreated = {
    type: "run-created",
    identity: {
      scope,
      run: child.run,
      thread: child.thread,
      agent: child.agent,
      rootRun,
      parentRun: run,
      parentThread: thread,
      parentCall: call.id,
      ...(session === undefined ? {} : { session }),
      origin: "subagent",
      mode: "foreground",
      adapter: "internal",
    },
    request: { origin: "internal", sender: agent, key, inputIds: [input.id], inputCount: 1 },
    input: [input],
    manifest: { fingerprint: fingerprints.get(lent) ?? remember(lent, hash) },
    budget: child.budget,
    ...(child.deadlineAt === undefined ? {} : { deadlineAt: child.deadlineAt }),
    ...(priority === undefined ? {} : { priority }),
    ...(manifest.sinks ? { sinks: manifest.sinks } : {}),
    delegated: { ticket: ticket.id, hash: ticket.hash, path },
  };
  const requestHash = hash.sha256(hash.canonical({ call: call.id, task: textOf(input) }));
  return { to: "birth", birth: { key, requestHash, entry: created, manifest } };
}

/** Of what a process lends it is the same each time, and a manifest may be long. */
const fingerprints = new WeakMap<BoundDelegate, RunCreated["manifest"]["fingerprint"]>();

function remember(lent: BoundDelegate, hash: Hash): RunCreated["manifest"]["fingerprint"] {
  const fingerprint = fingerprintOf(lent.manifest(), hash);
  fingerprints.set(lent, fingerprint);
  return fingerprint;
}

function messageOf(child: string, input: JsonValue, run: RunState["created"]["identity"]["run"]): Message {
  return {
    id: `${child}.task` as MessageId,
    role: "user",
    parts: [{ type: "text", text: taskText(input) }],
    visibility: "all",
    producer: { run },
  };
}

/** C7. */
function cancelsOf(
  runs: readonly { readonly run: RunState["created"]["identity"]["run"] }[],
  state: RunState,
): readonly Delivery[] {
  const { cancel, created } = state;
  const reason = cancel?.reason ?? `its parent, run ${created.identity.run}, ends`;
  return runs.map(({ run }) => ({
    to: "run",
    run,
    fact: { type: "cancel-requested", by: cancel?.by ?? engine, reason },
  }));
}

/** C3, C5. */
function endOf(entry: RunEnded, state: RunState, output: JsonValue | undefined): Delivery {
  const { identity, delegated } = state.created;
  const { run, agent, parentRun } = identity;
  if (!delegated || !parentRun) throw new HoldfastError("illegal-transition", `Run ${run} has no parent to tell`);
  const { ticket, hash } = delegated;
  const { descendants } = entry;
  const decision = {
    kind: "child-ended" as const,
    run,
    agent,
    outcome: entry.outcome,
    ...(output === undefined ? {} : { output }),
    steps: state.stepsEnded,
    usage: state.usage,
    ...(state.ledger ? { spent: state.ledger.spent } : {}),
    ...(descendants ? { descendants } : {}),
  };
  const fact = { type: "ticket-decided" as const, ticket, decision, by: run, key: `${ticket}.ended` };
  return { to: "run", run: parentRun, hash, fact };
}

/** As `run.result()` gives it. */
async function outputOf({ entries, state }: Caused, { entryAt }: Family): Promise<JsonValue | undefined> {
  const { outcome, output, answer } = state;
  if (outcome?.kind !== "completed") return undefined;
  if (output) return output.value;
  if (answer === undefined) return "";
  const first = state.seq - entries.length + 1;
  const entry = answer >= first ? entries[answer - first] : await entryAt(answer);
  return entry?.type === "message-appended" && entry.body.kind === "here" ? textOf(entry.body.message) : "";
}
