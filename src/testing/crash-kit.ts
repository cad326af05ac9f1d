/**
 * The crash kit: plays a scenario uncut, then once for every port call and every way to cut it, and compares.
 *
 * Whatever is cut, the runs must end as uncut, with the same transcripts, the same state and the same effects outside. Two
 * exceptions, both visible: a `once` effect without `reconcile` that was in flight at a death has exactly one
 * unknown-outcome ticket (which the kit marks done), and user code that throws comes to what `afterError` says.
 */
import type { Scope } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { createAjvChecker } from "../platform/ajv-checker.ts";
import type { Store, StoreDefinition } from "../ports/store.ts";
import { memory } from "../stores/memory/memory.ts";
import { problemsOf, threadProblems } from "./crash-checks.ts";
import { askedTwice, comesTo, differences, doubleEffects, saidOtherwise, untrueResults } from "./crash-compare.ts";
import { type Cut, type CutWay, cutsOf } from "./crash-cuts.ts";
import { isAnswer } from "./crash-labels.ts";
import type { PlayRequest } from "./crash-life.ts";
import { type Played, play } from "./crash-play.ts";
import type { CrashScenario, Expected } from "./crash-scenario.ts";
import { createFakeClock } from "./fake-clock.ts";
import type { Intercept } from "./intercept.ts";
import { createRandom } from "./sim/random.ts";
import { silentLogger } from "./test-process.ts";

export interface CrashOptions {
  /** In memory unless said. */
  readonly store?: StoreDefinition;
  /** Every way unless said. */
  readonly ways?: readonly CutWay[];
  /** Only so many cuts, spread over the whole play and drawn by the seed: for a store on which every play takes long. */
  readonly sample?: { readonly cuts: number; readonly seed: string };
  /** Cuts the recovery too: the second life dies before one of its own calls. */
  readonly twice?: boolean;
  /** Sits between the kit and the ports, made anew for every process: a fault of your own, in every play. */
  readonly around?: () => Intercept;
}

export interface CrashFailure {
  /** "after store.commit (call 12)", or "uncut". */
  readonly cut: string;
  readonly problems: readonly string[];
  /** Entry types of every run, to see where it went wrong. */
  readonly journal: readonly string[];
}

export interface CrashReport {
  readonly name: string;
  /** What the uncut play came to. */
  readonly uncut: Expected;
  /** How many plays were cut. */
  readonly cuts: number;
  /** How many could have been; more than were only with `sample`. */
  readonly possible: number;
  readonly failures: readonly CrashFailure[];
  /** Errors without a row in `afterError`, and what they came to: only what must hold of every run was checked there. */
  readonly unjudged: Readonly<Record<string, Expected>>;
}

type Stage = Omit<PlayRequest, "scope" | "cuts" | "results">;

/**
 * Cuts a scenario at every port call in every way and reports what differs from the uncut play.
 *
 * ```ts
 * const report = await crashEverywhere({
 *   name: "refund",
 *   agents: (world) => [supportAgent((context, order) => world.actByKey("refund", context, { order }))],
 *   script: async ({ runtime, agents: [support] }) => {
 *     await runtime.start(support, "Refund order 42", { key: "ticket-981" });
 *   },
 * });
 * assert.deepEqual(report.failures, []);
 * ```
 */
export async function crashEverywhere(scenario: CrashScenario, options: CrashOptions = {}): Promise<CrashReport> {
  const time = { clock: createFakeClock() };
  const clock = {
    now: () => time.clock.now(),
    monotonic: () => time.clock.now(),
    sleep: (ms: number) => time.clock.sleep(ms),
  };
  const definition = options.store ?? memory();
  const reopen = (): Promise<Store> => definition.open({ clock, logger: silentLogger });
  const store = await reopen();
  await warmUp();
  const stage: Stage = { scenario, store, reopen, time, around: options.around };
  try {
    const uncut = await play({ ...stage, scope: scopeOf(scenario, "uncut"), cuts: [], results: new Map() });
    const failures = await failureOf("uncut", uncut, { stage, problems: [] });
    const unjudged: Record<string, Expected> = {};
    const possible =
      failures.length > 0 ? [] : cutsOf(uncut.calls).filter(({ way }) => options.ways?.includes(way) ?? true);
    const cuts = options.sample ? drawn(possible, { ...options.sample, of: scenario.name }) : possible;
    for (const [index, cut] of cuts.entries()) {
      const lives = options.twice ? [cut, recoveryCut(index)] : [cut];
      const scope = scopeOf(scenario, `${index}`);
      const played = await play({ ...stage, scope, cuts: lives, results: resultsOf(uncut) });
      const row = rowOf(cut, played, scenario);
      if (row === "none") unjudged[played.cutAt[0] ?? ""] = comesTo(played);
      const problems = [...misses(cut, played, uncut), ...(row === "none" ? [] : judge(played, uncut, row))];
      failures.push(...(await failureOf(nameOf(cut, played), played, { stage, problems })));
    }
    const counts = { cuts: cuts.length, possible: possible.length };
    return { name: scenario.name, uncut: comesTo(uncut), ...counts, failures, unjudged };
  } finally {
    await store.close();
  }
}

/** One of each stretch of the play; others for every scenario. */
function drawn(possible: readonly Cut[], sample: NonNullable<CrashOptions["sample"]> & { of: string }): readonly Cut[] {
  const random = createRandom(sample.seed).branch(sample.of);
  const count = Math.min(sample.cuts, possible.length);
  const stretch = possible.length / count;
  return Array.from({ length: count }, (_, index) => {
    const [from, to] = [Math.floor(index * stretch), Math.floor((index + 1) * stretch)];
    return random.pick(possible.slice(from, to));
  });
}

/** What is loaded on first use would be waited for in real time, and only once: then no two plays were alike. */
async function warmUp(): Promise<void> {
  await createAjvChecker().problems({}, null);
}

function scopeOf(scenario: CrashScenario, play: string): Scope {
  return `${scenario.name} ${play}` as Scope;
}

/** Somewhere in the recovery, elsewhere for every cut. */
function recoveryCut(index: number): Cut {
  return { at: (index * 7 + 2) % 29, way: index % 2 === 0 ? "before" : "after" };
}

/** What the cut must come to: the uncut play, a row of the scenario's table, or no row. */
function rowOf(cut: Cut, { cutAt }: Played, scenario: CrashScenario): Expected | "uncut" | "none" {
  const [label = ""] = cutAt;
  if (cut.way !== "error") return "uncut";
  return scenario.afterError?.[label] ?? (isAnswer(label) ? "none" : "uncut");
}

/** Every play makes the same calls up to its cut. */
function misses({ at }: Cut, { cutAt: [label = "nothing"] }: Played, { calls }: Played): readonly string[] {
  const meant = calls[at]?.label;
  return label === meant ? [] : [`it was cut at ${label} instead of ${meant}: the scenario is not deterministic`];
}

function judge(played: Played, uncut: Played, row: Expected | "uncut"): readonly string[] {
  if (row !== "uncut") return differences(played, row);
  return [...differences(played, comesTo(uncut)), ...askedTwice(played, uncut), ...saidOtherwise(played, uncut)];
}

async function failureOf(
  cut: string,
  played: Played,
  { stage, problems }: { readonly stage: Stage; readonly problems: readonly string[] },
): Promise<CrashFailure[]> {
  const all = [...played.problems, ...problems, ...doubleEffects(played), ...untrueResults(played)];
  all.push(...threadProblems(played.stories));
  for (const story of played.stories) all.push(...(await problemsOf(story, stage.store)));
  if (all.length === 0) return [];
  const journal = played.stories.map(({ key, entries }) => `${key}: ${entries.map(({ type }) => type).join(" ")}`);
  return [{ cut, problems: all, journal }];
}

function nameOf({ at, way }: Cut, { cutAt }: Played): string {
  return `${way} ${cutAt.join(", then ")} (call ${at})`;
}

/** What each call gave uncut, for the operator who says that it was done. */
function resultsOf({ stories }: Played): ReadonlyMap<string, JsonValue> {
  const results = new Map<string, JsonValue>();
  for (const { messages, row } of stories) {
    for (const part of messages.flatMap((message) => message.parts)) {
      if (part.type !== "tool-result" || part.result.kind !== "value") continue;
      results.set(part.call.slice(row.run.length + 1), part.result.value);
    }
  }
  return results;
}
