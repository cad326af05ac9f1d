/** What the store's checks are written with: a clock that is moved by hand, and small births, entries and tickets. */
import assert from "node:assert/strict";
import type { DeclaredManifest } from "../../domain/declared-manifest.ts";
import type { EffectSettled, EntryBody, OutsideFact } from "../../domain/entry.ts";
import { type ErrorCode, isHoldfastError } from "../../domain/errors.ts";
import type {
  CallId,
  EffectId,
  Fingerprint,
  InputId,
  MessageId,
  RunId,
  Scope,
  ThreadId,
  TicketId,
} from "../../domain/ids.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Message } from "../../domain/message.ts";
import type { StateChanged } from "../../domain/state-slots.ts";
import type { Decision, TicketRecord } from "../../domain/ticket.ts";
import { nodeHash } from "../../platform/node-hash.ts";
import type { Birth, BusyRule } from "../../ports/birth.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NewContent } from "../../ports/content-store.ts";
import type { Delivery } from "../../ports/outbox-store.ts";
import type { Claim, NewThread, Post, RunKey, Store, StoreDeps } from "../../ports/store.ts";
import type { ThreadKey, ThreadRow } from "../../ports/thread-store.ts";

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function createManualClock(start: number = 1_000): ManualClock {
  let now = start;
  return {
    now: () => now,
    monotonic: () => now,
    sleep: () => Promise.resolve(),
    advance: (ms) => {
      now += ms;
    },
  };
}

/** Opens the store under test. Each check gets its own, on fresh data; opened again in one check it has the same data. */
export type OpenStore = (deps: StoreDeps) => Promise<Store>;
export type StoreCheck = (open: OpenStore) => Promise<void>;

export interface Bench {
  readonly store: Store;
  readonly clock: ManualClock;
  reopen(): Promise<Store>;
}

const silent = { warn: () => undefined, note: () => undefined };

/** Opens, checks, and closes whatever was opened, also when the check fails. */
export function checked(check: (bench: Bench) => Promise<void>): StoreCheck {
  return async (open) => {
    const clock = createManualClock();
    const opened: Store[] = [];
    const reopen = async (): Promise<Store> => {
      const store = await open({ clock, logger: silent });
      opened.push(store);
      return store;
    };
    try {
      await check({ store: await reopen(), clock, reopen });
    } finally {
      for (const store of opened) await store.close();
    }
  };
}

export const scopeA = "a" as Scope;
export const scopeB = "b" as Scope;
export const leaseMs = 1_000;

export function keyOf(run: string, scope: Scope = scopeA): RunKey {
  return { scope, run: run as RunId };
}

export function text(id: string): Message {
  return { id: id as MessageId, role: "user", parts: [{ type: "text", text: `says ${id}` }], visibility: "all" };
}

export function manifestOf(agent: string): DeclaredManifest {
  const model = { provider: "scripted", model: "m" };
  return {
    format: 1,
    agent,
    version: "1",
    model,
    instructions: { kind: "text", text: agent },
    tools: [],
    context: null,
    budget: { steps: 9 },
    declaredBy: { holdfast: "0" },
  };
}

export interface BirthOptions {
  readonly scope?: Scope;
  readonly thread?: string;
  readonly agent?: string;
  readonly key?: string;
  readonly requestHash?: string;
  readonly whenBusy?: BusyRule;
  readonly by?: string;
  readonly priority?: number;
  readonly startAt?: number;
  readonly deadlineAt?: number;
}

export function birthOf(run: string, options: BirthOptions = {}): Birth {
  const { scope = scopeA, thread = `thread-${run}`, agent = "ann", key = `start-${run}`, requestHash = "h" } = options;
  const id = run as RunId;
  const input = [text(`${run}-first`), text(`${run}-second`)];
  const rule = {
    ...(options.whenBusy === undefined ? {} : { whenBusy: options.whenBusy }),
    ...(options.by === undefined ? {} : { by: options.by }),
  };
  const times = {
    ...(options.priority === undefined ? {} : { priority: options.priority }),
    ...(options.startAt === undefined ? {} : { startAt: options.startAt }),
    ...(options.deadlineAt === undefined ? {} : { deadlineAt: options.deadlineAt }),
  };
  const lineage = { origin: "user", mode: "foreground", adapter: "internal" } as const;
  return {
    ...rule,
    key,
    requestHash,
    manifest: manifestOf(agent),
    entry: {
      type: "run-created",
      identity: { scope, run: id, thread: thread as ThreadId, agent, rootRun: id, ...lineage },
      request: { origin: "user", key, inputIds: input.map((message) => message.id), inputCount: input.length },
      input,
      manifest: { fingerprint: `print-${agent}` as Fingerprint },
      budget: { steps: 9 },
      ...times,
    },
  };
}

export function threadKey(thread: string, scope: Scope = scopeA): ThreadKey {
  return { scope, thread: thread as ThreadId };
}

/** An ended run that brought the two messages of its birth, and as many more as asked for. */
export function historyOf(run: string, thread: ThreadKey, more: number = 0): NonNullable<NewThread["history"]> {
  const birth = birthOf(run, { ...thread, agent: "import" });
  const later = Array.from({ length: more }, (_, n) => said(`${run}-${n}`));
  return { birth, rest: [started(0), saidAtBirth(0), saidAtBirth(1), ...later, ended] };
}

/** A message that is for the model only. */
export function whispered(id: string): EntryBody {
  return { type: "message-appended", body: { kind: "here", message: { ...text(id), visibility: "internal" } } };
}

export function said(id: string): EntryBody {
  return { type: "message-appended", body: { kind: "here", message: text(id) } };
}

export function saidAtBirth(index: number): EntryBody {
  return { type: "message-appended", body: { kind: "created", index } };
}

export function saidByInput(input: string, from: number): EntryBody {
  return { type: "message-appended", body: { kind: "input", from, input: input as InputId } };
}

export function started(position: number): EntryBody {
  return { type: "run-started", position };
}

export function stepped(step: number): EntryBody {
  return { type: "step-started", step };
}

/** Of the thread's state unless said. */
export function changed(
  key: string,
  value: JsonValue,
  more: Partial<Pick<StateChanged, "scope" | "version">> = {},
): EntryBody {
  return { type: "state-changed", key, scope: "thread", version: 1, change: { value }, by: "plugin", ...more };
}

export function settled(kind: "done" | "lost" | "not-made"): EntryBody {
  return { type: "effect-settled", effect: "effect" as EffectId, attempt: 1, result: { kind } };
}

export const waiting: EntryBody = { type: "run-waiting", tickets: [], reasons: [] };
export const resumed: EntryBody = { type: "run-resumed" };
export const ended: EntryBody = { type: "run-ended", outcome: { kind: "completed", reason: "natural" } };

export function ticketOf(run: string, generation: number, more: Partial<TicketRecord> = {}): TicketRecord {
  const call = `${run}.1.${generation}` as CallId;
  return {
    id: `${run}.approval.${generation}` as TicketId,
    kind: "approval",
    run: run as RunId,
    rootRun: run as RunId,
    thread: `thread-${run}` as ThreadId,
    agent: "ann",
    generation,
    hash: `hash-${generation}`,
    prompt: "May I?",
    call: { id: call, tool: `tool-${generation}`, version: "1", input: { n: generation }, resume: "replay" },
    openedAt: 0,
    ...more,
  };
}

export function opened(ticket: TicketRecord): EntryBody {
  return { type: "ticket-opened", ticket };
}

export function decided(ticket: TicketId, key: string, decision: Decision = { kind: "approve" }): OutsideFact {
  return { type: "ticket-decided", ticket, decision, by: "ana", key };
}

export function decisionOn(ticket: TicketRecord, key: string, scope: Scope = scopeA): Post {
  return { scope, run: ticket.run, key, fact: decided(ticket.id, key), hash: ticket.hash };
}

export function inputTo(run: string, input: string, key: string = `post-${input}`): Post {
  const fact: OutsideFact = { type: "input-received", input: input as InputId, message: text(input), by: "ana" };
  return { ...keyOf(run), key, fact };
}

export function withdrawalOf(run: string, input: string, key: string = `back-${input}`): Post {
  return { ...keyOf(run), key, fact: { type: "input-withdrawn", input: input as InputId, by: "ana" } };
}

export function cancelOf(run: string, key: string = `cancel-${run}`): Post {
  return { ...keyOf(run), key, fact: { type: "cancel-requested", by: "ana" } };
}

/** An input for another run, caused by a commit. */
export function deliveryTo(run: string, input: string, more: { readonly due?: number } = {}): Delivery {
  const fact: OutsideFact = { type: "input-received", input: input as InputId, message: text(input), by: "other" };
  return { to: "run", run: run as RunId, fact, ...more };
}

export function contentOf(text: string, scope: Scope = scopeA): NewContent {
  const body = new TextEncoder().encode(text);
  return { scope, hash: nodeHash.sha256(text), mediaType: "text/plain", body };
}

/** An entry that refers to content. */
export function citing({ hash }: Pick<NewContent, "hash">): EntryBody {
  const content = { hash, bytes: 1, mediaType: "text/plain" };
  return { ...(settled("done") as EffectSettled), answered: { kind: "value", value: null, content } };
}

export interface ClaimOptions {
  readonly scope?: Scope;
  readonly agents?: readonly string[];
  readonly limit?: number;
  readonly trials?: number;
}

export function claimAll(store: Store, options: ClaimOptions = {}): Promise<readonly Claim[]> {
  const { scope = scopeA, agents = ["ann"], limit = 100, trials } = options;
  const suspects = trials === undefined ? {} : { trials };
  return store.claim({ scope, agents, limit, leaseMs, claimId: "claim", ...suspects });
}

/** Claims the one claimable run and lets it say so many messages and end. */
export async function play(store: Store, messages: number, options: ClaimOptions = {}): Promise<Claim> {
  const claim = await claimOne(store, options);
  const { threadPosition: position, run } = claim;
  const entries = Array.from({ length: messages }, (_, n) => said(`${run}.${n + 1}`));
  const head = await headOf(store, claim);
  await write(store, claim, { entries: [started(position), ...entries, ended], after: head, position });
  return claim;
}

/** The one run that is claimable now. */
export async function claimOne(store: Store, options: ClaimOptions = {}): Promise<Claim> {
  const [claim, ...others] = await claimAll(store, options);
  assert.ok(claim, "a run is claimable");
  assert.equal(others.length, 0, "only one run is claimable");
  return claim;
}

export interface Written {
  readonly entries: readonly EntryBody[];
  readonly after: number;
  readonly position?: number;
  readonly wake?: number;
  readonly deliveries?: readonly Delivery[];
  readonly successor?: Birth;
}

/** Commits under a claim and insists that it is taken. */
export async function write(store: Store, claim: Claim, written: Written): Promise<number> {
  const { scope, run, epoch } = claim;
  const { entries, after: expectedSeq, position = 0, ...more } = written;
  const answer = await store.commit({ scope, run, epoch, expectedSeq, entries, position, ...more });
  assert.equal(answer.kind, "committed");
  return expectedSeq + entries.length;
}

export async function headOf(store: Store, key: RunKey): Promise<number> {
  return (await rowOf(store, key)).head;
}

export async function rowOf(store: Store, key: RunKey): Promise<NonNullable<Awaited<ReturnType<Store["run"]>>>> {
  const row = await store.run(key);
  assert.ok(row, `run ${key.run} is stored`);
  return row;
}

export async function threadOf(store: Store, thread: string): Promise<ThreadRow> {
  const row = await store.thread(threadKey(thread));
  assert.ok(row, `thread ${thread} is stored`);
  return row;
}

export async function throwsCode(act: Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(act, (cause) => isHoldfastError(cause, code));
}
