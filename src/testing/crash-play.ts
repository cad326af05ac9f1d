/**
 * Plays a scenario once: a process lives until the script and every run are done, or until it is cut; then another is
 * started on the same store and the same world, and the script begins again. Time is fake and moves only when nothing
 * else can.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isHoldfastError } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";
import type { Ids } from "../ports/ids.ts";
import type { Store } from "../ports/store.ts";
import { openProbe, type RecordedCall } from "./crash-cuts.ts";
import { allBirths, type Life, type PlayRequest } from "./crash-life.ts";
import { lostEffects, operate } from "./crash-operator.ts";
import type { ScriptContext } from "./crash-scenario.ts";
import { type RunStory, readStories } from "./crash-story.ts";
import { createWorld, type SharedWorld, type WorldEffect } from "./crash-world.ts";
import { createFakeClock, fakeStart } from "./fake-clock.ts";
import { countingIds, startProcess, turn } from "./test-process.ts";

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
  const sinks = scenario.sinks?.(world) ?? {};
  const settings = { leaseMs, pollMs: 60_000, ...scenario.settings, scope, sinks };
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

function doors(life: Life): Pick<ScriptContext, "until" | "rows" | "evidence" | "post"> {
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
    evidence: (run) => asked(store.evidence({ scope, run })),
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
  if ((await operate(life)) || (await letTimePass(life, endOfTime))) return undefined;
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

async function allDone(life: Life): Promise<boolean> {
  const { store } = life;
  const { scope } = life.request;
  for (const run of allBirths(life)) {
    const row = await store.run({ scope, run });
    if (row && row.status !== "done") return false;
    if (row && (await store.deliveries({ scope, run })).length > 0) return false;
  }
  return true;
}

/** Lets what is left have its chance to do harm, then ends the process. */
async function quietEnd(life: Life): Promise<void> {
  await life.probe.land();
  await life.clock.advance(leaseMs, turn);
  await calm(life);
  life.probe.kill();
}
