/**
 * Two stores side by side: the same random commands, every answer and every read compared. With the memory store as
 * the reference this is the model check of any other store.
 */
import assert from "node:assert/strict";
import { isHoldfastError } from "../../domain/errors.ts";
import type { RunId } from "../../domain/ids.ts";
import type { Claim, Store } from "../../ports/store.ts";
import { memory } from "../../stores/memory/memory.ts";
import { type Call, callOf, runNames, scopeName } from "./store-calls.ts";
import { type Batch, type Command, drawCommands } from "./store-commands.ts";
import { allReads, type Reads, rowReads } from "./store-compared-reads.ts";
import { claimName, type World } from "./store-drawn-writes.ts";
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
  const bases = new Map<Store, number>();
  for (const store of [pair.reference, pair.subject]) bases.set(store, await store.head());
  for (const batch of batches) {
    const difference =
      (await compareBatch(pair, batch, { label, positions })) ?? (await compareRows(pair, batch, label));
    if (difference) return difference;
  }
  return compareReads(pair, allReads(label, bases));
}

/** Other scopes are compared at the end of the list. */
async function compareRows(pair: Pair, batch: Batch, label: string): Promise<Seen | undefined> {
  const touched = new Set(batch.flatMap((command) => (command.do === "advance" ? [] : [command.scope])));
  for (const scope of touched) {
    const difference = await compareReads(pair, rowReads(scopeName(label, scope)));
    if (difference) return difference;
  }
  return undefined;
}

interface ListContext {
  readonly label: string;
  readonly positions: Map<string, number>;
}

async function compareBatch(pair: Pair, batch: Batch, context: ListContext): Promise<Seen | undefined> {
  const commands = batch.filter((command): command is Exclude<Command, { do: "advance" }> => command.do !== "advance");
  for (const command of batch) if (command.do === "advance") pair.clock.advance(command.ms);
  const world = { reference: pair.reference, now: pair.clock.now(), ...context };
  const settledRuns = await runsWithTheirThread(world, commands);
  const calls: Call[] = [];
  for (const command of commands) calls.push(await callOf(command, world));
  const [expected, actual] = await Promise.all([outcomes(pair.reference, calls), outcomes(pair.subject, calls)]);
  for (const [index, command] of commands.entries()) {
    if (command.do === "claim") rememberPositions(expected[index], context.positions, settledRuns);
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

/** A run that held its thread before the batch begins where its claim says; one that was queued may be told too early. */
async function runsWithTheirThread(
  world: Pick<World, "reference" | "label">,
  commands: readonly { readonly do: string; readonly scope: number }[],
): Promise<ReadonlySet<string>> {
  const held = new Set<string>();
  for (const command of commands.filter((each) => each.do === "claim")) {
    const scope = scopeName(world.label, command.scope);
    for (const run of runNames) {
      const row = await world.reference.run({ scope, run: run as RunId });
      if (row && !row.queued) held.add(claimName(row, 0));
    }
  }
  return held;
}

function rememberPositions(outcome: unknown, positions: Map<string, number>, held: ReadonlySet<string>): void {
  const claims = (outcome as { answer?: readonly Claim[] }).answer ?? [];
  for (const claim of claims) {
    const name = claimName(claim, claim.epoch);
    if (held.has(claimName(claim, 0))) positions.set(name, claim.threadPosition);
    else positions.delete(name);
  }
}

function compare(command: string, reference: unknown, subject: unknown): Seen | undefined {
  try {
    assert.deepEqual(subject, reference);
    return undefined;
  } catch {
    return { command, reference, subject };
  }
}

/** Asked all at once: nothing is written meanwhile, and a store across a network answers them together. */
async function compareReads(pair: Pair, reads: Reads): Promise<Seen | undefined> {
  const both = Object.entries(reads).map(async ([name, read]) =>
    compare(name, await outcomeOf(read(pair.reference)), await outcomeOf(read(pair.subject))),
  );
  return (await Promise.all(both)).find((difference) => difference !== undefined);
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
