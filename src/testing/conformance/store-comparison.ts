/**
 * Two stores side by side: the same random commands, every answer and every read compared. With the memory store as
 * the reference this is the model check of any other store.
 */
import assert from "node:assert/strict";
import { isHoldfastError } from "../../domain/errors.ts";
import type { Fingerprint, RunId, Scope, ThreadId } from "../../domain/ids.ts";
import type { Claim, Store } from "../../ports/store.ts";
import { memory } from "../../stores/memory/memory.ts";
import { agentNames, type Call, callOf, runNames, scopeName, threadNames } from "./store-calls.ts";
import { type Batch, type Command, drawCommands } from "./store-commands.ts";
import { createManualClock, type ManualClock, type OpenStore } from "./store-fixtures.ts";

export interface ComparisonOptions {
  readonly lists: number;
  /** Most commands in one list. */
  readonly length: number;
  readonly seed: number;
}

/** Throws with the shortest list of commands it can find on which the two differ. */
export async function compareWithMemory(open: OpenStore, options: ComparisonOptions): Promise<void> {
  const clock = createManualClock();
  const deps = { clock, logger: { warn: () => undefined, note: () => undefined } };
  const reference = await memory().open(deps);
  const subject = await open(deps);
  try {
    const pair = { reference, subject, clock };
    for (let list = 0; list < options.lists; list += 1) {
      const seed = options.seed + list;
      const batches = drawCommands(seed, options.length);
      const difference = await differenceOn(pair, batches, `s${seed}`);
      if (difference !== undefined) throw await shortest(pair, batches, difference);
    }
  } finally {
    await subject.close();
    await reference.close();
  }
}

interface Pair {
  readonly reference: Store;
  readonly subject: Store;
  readonly clock: ManualClock;
}

interface Seen {
  readonly command: string;
  readonly reference: unknown;
  readonly subject: unknown;
}

async function differenceOn(pair: Pair, batches: readonly Batch[], label: string): Promise<Seen | undefined> {
  const positions = new Map<string, number>();
  for (const batch of batches) {
    const difference =
      (await compareBatch(pair, batch, { label, positions })) ?? (await compareReads(pair, rowReads(label)));
    if (difference) return difference;
  }
  return compareReads(pair, allReads(label));
}

interface ListContext {
  readonly label: string;
  readonly positions: Map<string, number>;
}

async function compareBatch(pair: Pair, batch: Batch, context: ListContext): Promise<Seen | undefined> {
  const commands = batch.filter((command): command is Exclude<Command, { do: "advance" }> => command.do !== "advance");
  for (const command of batch) if (command.do === "advance") pair.clock.advance(command.ms);
  const world = { reference: pair.reference, now: pair.clock.now(), ...context };
  const calls: Call[] = [];
  for (const command of commands) calls.push(await callOf(command, world));
  const [expected, actual] = await Promise.all([outcomes(pair.reference, calls), outcomes(pair.subject, calls)]);
  for (const [index, command] of commands.entries()) {
    if (command.do === "claim") rememberPositions(expected[index], context.positions);
    const difference = compare(JSON.stringify(command), expected[index], actual[index]);
    if (difference) return difference;
  }
  return undefined;
}

/** Given at once, answered in order. */
function outcomes(store: Store, calls: readonly Call[]): Promise<readonly unknown[]> {
  return Promise.all(calls.map((call) => outcomeOf(call(store))));
}

async function outcomeOf(answer: Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await answer };
  } catch (cause) {
    return { thrown: isHoldfastError(cause) ? cause.code : cause };
  }
}

function rememberPositions(outcome: unknown, positions: Map<string, number>): void {
  const claims = (outcome as { answer?: readonly Claim[] }).answer ?? [];
  for (const claim of claims) positions.set(claim.run, claim.threadPosition);
}

function compare(command: string, reference: unknown, subject: unknown): Seen | undefined {
  try {
    assert.deepEqual(subject, reference);
    return undefined;
  } catch {
    return { command, reference, subject };
  }
}

type Reads = Readonly<Record<string, Call>>;

async function compareReads(pair: Pair, reads: Reads): Promise<Seen | undefined> {
  for (const [name, read] of Object.entries(reads)) {
    const difference = compare(name, await outcomeOf(read(pair.reference)), await outcomeOf(read(pair.subject)));
    if (difference) return difference;
  }
  return undefined;
}

/** What a batch may have moved: rows, tickets, and when something is due. */
function rowReads(label: string): Reads {
  const reads: Record<string, Call> = {};
  for (const scope of [scopeName(label, 0), scopeName(label, 1)]) {
    for (const run of runNames) reads[`run ${scope} ${run}`] = (store) => store.run({ scope, run: run as RunId });
    for (const agent of agentNames)
      reads[`nextDue ${scope} ${agent}`] = (store) => store.nextDue({ scope, agents: [agent] });
    reads[`tickets ${scope}`] = (store) => store.tickets({ scope, limit: 1_000 });
  }
  return reads;
}

function allReads(label: string): Reads {
  const reads: Record<string, Call> = {};
  for (const scope of [scopeName(label, 0), scopeName(label, 1)]) {
    for (const run of runNames) {
      const key = { scope, run: run as RunId };
      for (const after of [0, 1, 2, 5])
        reads[`readRun ${scope} ${run} ${after}`] = (store) => store.readRun({ ...key, after, limit: 3 });
      reads[`readRun ${scope} ${run}`] = (store) => store.readRun({ ...key, after: 0, limit: 1_000 });
      reads[`snapshot ${scope} ${run}`] = (store) => store.snapshot(key);
      reads[`evidence ${scope} ${run}`] = (store) => store.evidence(key);
      reads[`open tickets ${scope} ${run}`] = (store) => store.tickets({ ...key, status: "open", limit: 2 });
    }
    for (const name of threadNames) {
      const thread = name as ThreadId;
      for (const limit of [1, 3, 1_000])
        reads[`readThread ${scope} ${name} ${limit}`] = (store) => store.readThread({ scope, thread, limit });
    }
    reads[`readAll ${scope}`] = (store) => commitsOf(store, scope);
    reads[`manifest ${scope}`] = (store) => store.manifest(scope, "print-bob" as Fingerprint);
  }
  return reads;
}

/** Positions may differ between stores; the order may not. */
async function commitsOf(store: Store, scope: Scope): Promise<unknown> {
  const rows = await store.readAll({ scope, after: 0, limit: 1_000 });
  assert.deepEqual(
    rows.map((row) => row.position),
    rows.map((row) => row.position).toSorted((a, b) => a - b),
  );
  const half = rows.slice(0, Math.ceil(rows.length / 2));
  const rest = await store.readAll({ scope, after: half.at(-1)?.position ?? 0, limit: 1_000 });
  return { rows: rows.map(({ position: _position, ...row }) => row), rest: rest.map(({ run }) => run) };
}

async function shortest(pair: Pair, batches: readonly Batch[], found: Seen): Promise<Error> {
  let shortestList = batches;
  let difference = found;
  for (let index = 0, tries = 0; index < shortestList.length; tries += 1) {
    const without = shortestList.toSpliced(index, 1);
    const still = await differenceOn(pair, without, `shrink${tries}`);
    if (still) [shortestList, difference] = [without, still];
    else index += 1;
  }
  const list = shortestList.map((batch) => JSON.stringify(batch)).join("\n");
  const { command, reference, subject } = difference;
  return new assert.AssertionError({
    message: `The stores differ at ${command} of\n${list}`,
    actual: subject,
    expected: reference,
  });
}
