/**
 * Posts one fact through the outside door of the store (no runtime, no hint) at one port call of a running run, and
 * watches every commit and release from then on.
 */
import type { OutsideFact } from "../../src/domain/entry.ts";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import type { Commit, CommitAnswer, PostAnswer, Store, StoreDefinition } from "../../src/ports/store.ts";
import { problemsOf } from "../../src/testing/crash-checks.ts";
import { type Played, play } from "../../src/testing/crash-play.ts";
import type { CrashScenario } from "../../src/testing/crash-scenario.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import type { Intercept, PortCall } from "../../src/testing/intercept.ts";
import { silentLogger } from "../../src/testing/test-process.ts";

export interface Outside {
  readonly store: Store;
  readonly scope: Scope;
  /** The one run of the scenario, once it exists. */
  readonly run: RunId | undefined;
}

/** What to post, given what there is; undefined when there is nothing to say yet. */
export type Say = (
  outside: Outside & { readonly run: RunId },
) => Promise<{ fact: OutsideFact; hash?: string } | undefined>;

export interface Moment {
  readonly at: number;
  readonly when: "before" | "after";
}

export interface Heard {
  readonly played: Played;
  readonly posted: PostAnswer | undefined;
  /** How often a commit or release was behind. */
  readonly behind: number;
  readonly problems: readonly string[];
}

export interface Stage {
  /** Plays the scenario with the fact posted at this moment; uncut and unposted without one. */
  perform(moment: Moment | undefined): Promise<Heard>;
  close(): Promise<void>;
}

export interface Staging {
  readonly scenario: CrashScenario;
  readonly say: Say;
  readonly store: StoreDefinition;
  /** A fault between the watch and the ports. */
  readonly fault?: Intercept;
}

export async function openStage({ scenario, say, store: definition, fault }: Staging): Promise<Stage> {
  const time = { clock: createFakeClock() };
  const clock = {
    now: () => time.clock.now(),
    monotonic: () => time.clock.now(),
    sleep: (ms: number) => time.clock.sleep(ms),
  };
  const reopen = (): Promise<Store> => definition.open({ clock, logger: silentLogger });
  const store = await reopen();
  let plays = 0;
  return {
    async perform(moment) {
      plays += 1;
      const scope = `play ${plays}` as Scope;
      const watch = watching({ store, scope, say, moment, fault: fault ?? ((_call, proceed) => proceed()) });
      const request = { scenario, store, reopen, time, scope, cuts: [], results: new Map() };
      const played = await play({ ...request, around: () => watch.intercept });
      const problems = [...played.problems, ...watch.problems];
      for (const story of played.stories) problems.push(...(await problemsOf(story, store)));
      return { played, posted: watch.posted(), behind: watch.behind(), problems };
    },
    close: () => store.close(),
  };
}

interface Watched {
  readonly store: Store;
  readonly scope: Scope;
  readonly say: Say;
  readonly moment: Moment | undefined;
  readonly fault: Intercept;
}

interface Watch {
  readonly intercept: Intercept;
  readonly problems: readonly string[];
  readonly posted: () => PostAnswer | undefined;
  readonly behind: () => number;
}

function watching({ store, scope, say, moment, fault }: Watched): Watch {
  const problems: string[] = [];
  let behind = 0;
  let calls = 0;
  let run: RunId | undefined;
  let posted: PostAnswer | undefined;

  async function post(): Promise<void> {
    const said = run && (await say({ store, scope, run }));
    if (run && said) posted = await store.post({ scope, run, key: "outside", ...said });
  }

  /** Fenced is only who has lost the run; behind is only who has not seen what was posted. */
  async function judge(call: PortCall, answer: CommitAnswer, seqBefore: number | undefined): Promise<void> {
    const { epoch, expectedSeq } = call.args[0] as Commit;
    if (answer.kind === "fenced") {
      const row = run && (await store.run({ scope, run }));
      if (row?.epoch === epoch) problems.push(`${call.method} is fenced while its epoch is current`);
    }
    const unseen = seqBefore !== undefined && expectedSeq < seqBefore;
    const told = answer.kind === "behind" && answer.entries.some((entry) => entry.seq === seqBefore);
    if (unseen && !told) problems.push(`${call.method} at ${expectedSeq} is ${answer.kind}, not behind ${seqBefore}`);
    if (answer.kind !== "behind") return;
    behind += 1;
    if (posted === undefined) problems.push(`${call.method} is behind nothing`);
  }

  async function proceedWatched<T>(call: PortCall, proceed: () => Promise<T>): Promise<T> {
    const seqBefore = posted?.kind === "posted" ? posted.seq : undefined;
    const answer = await fault(call, proceed);
    if (call.method === "create") run = await bornIn(store, scope, call);
    if (call.method === "commit" || call.method === "release") await judge(call, answer as CommitAnswer, seqBefore);
    return answer;
  }

  const intercept: Intercept = async (call, proceed) => {
    const here = moment?.at === calls;
    calls += 1;
    if (here && moment.when === "before") {
      // A sleep must begin at once: time does not wait for it as it does for other calls.
      if (call.port !== "clock") await post();
      else return (await Promise.all([proceed(), post()]))[0];
    }
    const answer = await proceedWatched(call, proceed);
    if (here && moment.when === "after") await post();
    return answer;
  };

  return { intercept, problems, posted: () => posted, behind: () => behind };
}

async function bornIn(store: Store, scope: Scope, call: PortCall): Promise<RunId | undefined> {
  const [birth] = call.args as readonly [{ entry: { identity: { run: RunId } } }];
  const { run } = birth.entry.identity;
  return (await store.run({ scope, run })) ? run : undefined;
}
