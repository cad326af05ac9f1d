/**
 * Plays a scenario once: a process lives until the script and every run are done, or until it is cut; then another is
 * started on the same store and the same world, and the script begins again. Time is fake and moves only when nothing
 * else can.
 */
import { setTimeout as delay } from "node:timers/promises";
import { foldAll } from "../domain/apply.ts";
import { isHoldfastError } from "../domain/errors.ts";
import type { RunId, Scope } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { readAfter } from "../engine/load.ts";
import type { Ids } from "../ports/ids.ts";
import type { Store } from "../ports/store.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type Cut, openProbe, type Probe, type RecordedCall } from "./crash-cuts.ts";
import type { CrashScenario, ScriptContext } from "./crash-scenario.ts";
import { type RunStory, readStories } from "./crash-story.ts";
import { createWorld, type SharedWorld, type WorldEffect, type WorldView } from "./crash-world.ts";
import { createFakeClock, type FakeClock, fakeStart } from "./fake-clock.ts";
import type { Intercept } from "./intercept.ts";
import { countingIds, startProcess, turn } from "./test-process.ts";

export interface PlayRequest {
  readonly scenario: CrashScenario;
  /** The first life's; every later one opens its own, so that nothing is remembered but what was written. */
  readonly store: Store;
  readonly reopen: () => Promise<Store>;
  /** The store reads its time from here. */
  readonly time: { clock: FakeClock };
  readonly scope: Scope;
  /** One per life, in order; the lives after them are uncut. */
  readonly cuts: readonly Cut[];
  /** Sits between the probe and the ports; made anew for every life. */
  readonly around?: (() => Intercept) | undefined;
  /** What an operator answers when only a cut made an outcome unknown: by `step.index` of the call. */
  readonly results: ReadonlyMap<string, JsonValue>;
}

export interface Played {
  readonly stories: readonly RunStory[];
  readonly effects: readonly WorldEffect[];
  /** Of the first life. */
  readonly calls: readonly RecordedCall[];
  /** Where each life was cut. */
  readonly cutAt: readonly string[];
  /** `once` effects without reconcile that were in flight when a process died, as `step.index` or `step.index~n`. */
  readonly lost: ReadonlySet<string>;
  readonly problems: readonly string[];
}

interface Life {
  readonly request: PlayRequest;
  readonly store: Store;
  readonly clock: FakeClock;
  readonly probe: Probe;
  readonly world: WorldView;
  readonly runtime: Runtime;
  readonly births: Set<RunId>;
  readonly waits: Set<{ readonly check: () => boolean | Promise<boolean>; readonly resolve: () => void }>;
  script: "running" | "done" | { readonly failed: unknown };
  /** What the script asks the store itself, beside the process. */
  asking: number;
}

const leaseMs = 30_000;
/** A process that comes back is there a second later; the dead one's lease still runs. */
const restartMs = 1_000;
const scriptBackoffMs = 5_000;
const longestLifeMs = 4 * 60 * 60_000;
/** A store that has not answered by then is given time of its own, a millisecond a turn. */
const busyTurns = 1_000;
const mostTurns = 30_000;

export async function play(request: PlayRequest): Promise<Played> {
  const shared = createWorld();
  const ids = countingIds();
  const births = new Set<RunId>();
  const lost = new Set<string>();
  const cutAt: string[] = [];
  let calls: readonly RecordedCall[] | undefined;
  let store = request.store;
  for (let number = 0; ; number += 1) {
    const life = await begin(request, { number, store, shared, ids, births });
    const end = await live(life);
    calls ??= life.probe.calls();
    const cut = life.probe.cutAt();
    if (cut !== undefined) cutAt.push(cut);
    if (end.kind === "died") {
      for (const effect of await lostEffects(life)) lost.add(effect);
      await closeOwn(life);
      store = await request.reopen();
      continue;
    }
    await quietEnd(life);
    const stories = await readStories(request.store, request.scope, births);
    await closeOwn(life);
    return { stories, effects: shared.effects, calls, cutAt, lost, problems: end.problems };
  }
}

async function closeOwn({ store, request }: Life): Promise<void> {
  if (store !== request.store) await store.close();
}

async function begin(
  request: PlayRequest,
  life: { number: number; store: Store; shared: SharedWorld; ids: Ids; births: Set<RunId> },
): Promise<Life> {
  const { scenario, time, scope, cuts, around } = request;
  const { store } = life;
  const clock = createFakeClock(life.number === 0 ? fakeStart : time.clock.now() + restartMs);
  time.clock = clock;
  const probe = openProbe(cuts[life.number], around?.());
  const world = life.shared.view({ isDead: probe.isDead, clock });
  const agents = scenario.agents(world);
  const settings = { leaseMs, pollMs: 60_000, ...scenario.settings, scope };
  const { runtime } = await startProcess({
    store: { name: "shared", open: async () => store },
    agents,
    clock,
    ids: life.ids,
    settings,
    intercept: probe.intercept,
    interceptNow: probe.interceptNow,
  });
  const begun: Life = {
    request,
    store,
    clock,
    probe,
    world,
    runtime,
    births: life.births,
    waits: new Set(),
    script: "running",
    asking: 0,
  };
  runScript(begun, { runtime, agents, world, ...doors(begun) });
  return begun;
}

function doors(life: Life): Pick<ScriptContext, "until" | "rows" | "post"> {
  const { store } = life;
  const { scope } = life.request;
  async function asked<T>(question: Promise<T>): Promise<T> {
    life.asking += 1;
    return question.finally(() => {
      life.asking -= 1;
    });
  }
  return {
    until: (check) => new Promise((resolve) => life.waits.add({ check, resolve })),
    rows: async () => {
      const rows = await asked(Promise.all([...allBirths(life)].map((run) => store.run({ scope, run }))));
      return rows.filter((row) => row !== undefined);
    },
    post: (post) => asked(store.post({ ...post, scope })),
  };
}

/** The script may meet a store that fails: as any caller, it begins again. Of a write it is never left in doubt. */
function runScript(life: Life, context: ScriptContext): void {
  const { script } = life.request.scenario;
  async function drive(): Promise<void> {
    for (let left = 100; ; left -= 1) {
      try {
        return await script(context);
      } catch (cause) {
        if (!isHoldfastError(cause) || cause.retry !== "later" || left === 0) throw cause;
        await life.clock.sleep(scriptBackoffMs);
      }
    }
  }
  drive().then(
    () => {
      life.script = "done";
    },
    (failed: unknown) => {
      life.script = { failed };
    },
  );
}

type LifeEnd = { readonly kind: "died" } | { readonly kind: "over"; readonly problems: readonly string[] };

async function live(life: Life): Promise<LifeEnd> {
  const endOfTime = life.clock.now() + longestLifeMs;
  for (;;) {
    const end = (await calmEnd(life)) ?? (await move(life, endOfTime));
    if (end) return end;
  }
}

/** How this life has ended, if it has. */
async function calmEnd(life: Life): Promise<LifeEnd | undefined> {
  const isCalm = await calm(life);
  for (const run of life.probe.births) life.births.add(run);
  if (life.probe.isDead()) return { kind: "died" };
  if (!isCalm) return over(`it stayed busy: ${life.probe.busy()} calls never ended`);
  if (typeof life.script === "object") return over(`its script failed: ${String(life.script.failed)}`);
  return undefined;
}

/** The first thing that can move: the script, the operator, time. */
async function move(life: Life, endOfTime: number): Promise<LifeEnd | undefined> {
  if (await answerWaits(life)) return undefined;
  if (life.script === "done" && (await allDone(life))) return { kind: "over", problems: [] };
  if ((await answerUnknown(life)) || (await letTimePass(life, endOfTime))) return undefined;
  return over("it is stuck: nothing moves any more");
}

/** False when there is nobody left to wake. Who wakes at the same time wakes one after the other. */
async function letTimePass(life: Life, endOfTime: number): Promise<boolean> {
  const { clock } = life;
  const next = clock.next();
  if (next === undefined || next > endOfTime) return false;
  await clock.advance(next - clock.now(), async () => void (await calm(life)));
  return true;
}

function over(problem: string): LifeEnd {
  return { kind: "over", problems: [problem] };
}

/** True once nothing but sleep, or a wait on the world, is in flight; false when that never comes. */
async function calm(life: Life): Promise<boolean> {
  const { probe, world } = life;
  for (let quiet = 0, turns = 0; quiet < 2; turns += 1) {
    await (turns < busyTurns ? turn() : delay(1));
    if (turns > mostTurns) return false;
    const busy = probe.busy() + life.asking;
    quiet = busy <= (probe.isDead() ? 0 : world.waiting()) ? quiet + 1 : 0;
  }
  return true;
}

async function answerWaits(life: Life): Promise<boolean> {
  for (const wait of [...life.waits]) {
    if (!(await wait.check())) continue;
    life.waits.delete(wait);
    wait.resolve();
    return true;
  }
  return false;
}

function allBirths(life: Life): Set<RunId> {
  return new Set([...life.births, ...life.probe.births]);
}

async function allDone(life: Life): Promise<boolean> {
  const { store } = life;
  const { scope } = life.request;
  for (const run of allBirths(life)) {
    const row = await store.run({ scope, run });
    if (row && row.status !== "done") return false;
  }
  return true;
}

/** The operator: an outcome that a cut made unknown is marked done, with what the uncut play gave or the world shows. */
async function answerUnknown(life: Life): Promise<boolean> {
  const { store } = life;
  const { scope, scenario, results } = life.request;
  const filter = { scope, status: "open", kind: "unknown-outcome", limit: 100 } as const;
  for (const { ticket } of await store.tickets(filter)) {
    const { id, call, run, hash, generation, decidableFrom = 0 } = ticket;
    if (!call || decidableFrom > life.clock.now()) continue;
    if (generation <= (scenario.unknownsAnsweredByScript ?? 0)) continue;
    const [effect] = life.world.effects().filter((each) => each.call === call.id);
    const result = results.get(call.id.slice(run.length + 1)) ?? effect?.result ?? null;
    life.runtime.tickets
      .decide(id, { kind: "mark-done", result, hash, by: "crash-kit", key: `crash-kit:${id}` })
      .catch(() => undefined);
    return true;
  }
  return false;
}

/** Which effects a death left open that nobody can ask about. */
async function lostEffects(life: Life): Promise<readonly string[]> {
  const { store } = life;
  const { scope, scenario } = life.request;
  const specs = new Map(
    scenario.agents(life.world).flatMap((each) => each.tools.map(({ spec }) => [spec.name, spec] as const)),
  );
  const lost: string[] = [];
  for (const run of allBirths(life)) {
    const entries = await readAfter({ scope, run }, 0, store);
    if (entries.length === 0) continue;
    for (const call of foldAll(entries).step?.calls ?? []) {
      const spec = specs.get(call.tool);
      if (call.effect?.open && spec?.effect === "once" && !spec.reconciles) {
        lost.push(call.effect.id.slice(run.length + 1));
      }
    }
  }
  return lost;
}

/** Lets what is left have its chance to do harm, then ends the process. */
async function quietEnd(life: Life): Promise<void> {
  await life.probe.land();
  await life.clock.advance(leaseMs, turn);
  await calm(life);
  life.probe.kill();
}
