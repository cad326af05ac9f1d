/** In every phase: a hook that throws, rejects or never answers fails by the phase's rule, and takes all the others with it. */
import { describe, expect, test } from "vitest";
import type { Command } from "../../../src/domain/command.ts";
import { type Phase, phases } from "../../../src/domain/phase.ts";
import type { ConfiguredPlugin } from "../../../src/domain/plugin.ts";
import { phaseTable } from "../../../src/engine/phases.ts";
import { turn } from "../../../src/testing/test-process.ts";
import { aGate, never } from "../../scenarios/moments.ts";
import { expectFailure } from "./failure.ts";
import { momentsIn } from "./journal.ts";
import { samples } from "./samples.ts";
import { type AnyView, begin, type Hooked, hookedIn, limits, mark, play, pluginOf, saysOnce } from "./world.ts";

/** Everything that the phase allows, said once. */
function neighbour(phase: Phase, name: string): ConfiguredPlugin {
  const says = (view: AnyView): readonly Command[] =>
    phaseTable[phase].commands.map((type) => samples[type].command(view));
  return hookedIn(phase, saysOnce(says, "sync"), name);
}

/** Between two plugins that ask for everything they may. */
function among(phase: Phase, hook: Hooked): readonly ConfiguredPlugin[] {
  let isFirst = true;
  const once: Hooked = (view) => {
    if (!isFirst) return undefined;
    isFirst = false;
    return hook(view);
  };
  return [neighbour(phase, "first"), hookedIn(phase, once), neighbour(phase, "last")];
}

const boom = (): never => {
  throw new Error("boom");
};

const broken: Readonly<Record<string, Hooked>> = {
  throws: boom,
  rejects: async () => boom(),
  "rejects later": () => turn().then(boom),
};

describe.each(Object.entries(broken))("a hook that %s", (_name, hook) => {
  test.each(phases)("in %s", async (phase) => {
    const played = await play(phase, ...among(phase, hook));
    const isQuiet = phase === "after-tool" || phase === "output-gate"; // F1: its words may quote what is hidden
    expectFailure(played, { phase, code: "plugin-failed", says: [isQuiet ? `failed in ${phase}` : "boom"] });
    expect(JSON.stringify([played.journal, played.requests, played.result]).includes("boom")).toBe(
      !isQuiet && phaseTable[phase].kind === "blocking",
    );
    if (isQuiet) expect(played.warnings).toEqual([`Plugin probe failed in ${phase}`]);
  });
});

function deadlineOf(phase: Phase): number {
  return limits[phaseTable[phase].deadline];
}

const blocking = phases.filter((phase) => phaseTable[phase].kind === "blocking");

describe("a hook that never answers", () => {
  test.each(blocking)(
    "fails in %s when the deadline of the table is over, and not before; its late answer is nothing",
    async (phase) => {
      const entered = aGate<AnyView>();
      const late = aGate<readonly Command[]>();
      const world = await begin(
        phase,
        ...among(phase, (view) => {
          entered.open(view);
          return late.opened;
        }),
      );
      const seen = world.seeThrough();
      const view = await entered.opened;
      const { signal } = view;
      await world.pass(deadlineOf(phase) - 1);
      expect(signal.aborted).toBe(false);
      expect(momentsIn(await world.journal())).toEqual([]);
      await world.pass(1);
      expect(signal.aborted).toBe(true);
      late.open([mark.set("too late")]);
      expectFailure(await seen, { phase, code: "plugin-failed", says: [`no answer within ${deadlineOf(phase)} ms`] });
    },
  );

  test("in after-run is given up when its deadline is over; nobody has waited for it", async () => {
    const entered = aGate<AnyView>();
    const hangs: Hooked = (view) => {
      entered.open(view);
      return never();
    };
    const world = await begin("after-run", ...among("after-run", hangs));
    expect(await world.run.result()).toMatchObject({ outcome: "completed" });
    const { signal } = await entered.opened;
    await world.pass(limits.phaseTimeoutMs - 1);
    expect(signal.aborted).toBe(false);
    await world.pass(1);
    expect(signal.aborted).toBe(true);
    const says = [`no answer within ${limits.phaseTimeoutMs} ms`];
    expectFailure(await world.seeThrough(), { phase: "after-run", code: "plugin-failed", says });
  });

  test("in model-delta is given up when its deadline is over, or before that when the run leaves", async () => {
    const views: AnyView[] = [];
    const end = aGate();
    const hangs: Hooked = (view) => {
      views.push(view);
      return never();
    };
    const holds = {
      "before-model": ({ step }: AnyView) => (step === 2 ? pause() : undefined),
      "before-end": () => end.opened,
    };
    const world = await begin("model-delta", hookedIn("model-delta", hangs), pluginOf(holds, "slow"));
    const pause = (): Promise<void> => world.clock.sleep(1_000); // so that what follows has its deadline later
    const seen = world.seeThrough();
    await world.pass(limits.phaseTimeoutMs);
    const [first, ...others] = views.map(({ signal }) => signal.aborted);
    expect([first, others.at(-1)]).toEqual([true, false]);
    end.open();
    const { warnings, result } = await seen;
    expect(result.outcome).toBe("completed");
    expect(views.every(({ signal }) => signal.aborted)).toBe(true);
    const message = `Plugin probe failed in model-delta: no answer within ${limits.phaseTimeoutMs} ms`;
    expect(new Set(warnings)).toEqual(new Set([message]));
  });

  test("is named, and those that have answered are not", async () => {
    const answersLater: Hooked = () => turn();
    const world = await begin(
      "before-run",
      pluginOf({ "before-run": answersLater }, "quick"),
      pluginOf({ "before-run": [answersLater, () => never()] }),
      pluginOf({ "before-run": () => Promise.reject(new Error("no")) }, "sulky"),
    );
    const seen = world.seeThrough();
    await world.pass(limits.phaseTimeoutMs);
    const { result, journal } = await seen;
    const message = `Plugin probe failed in before-run: no answer within ${limits.phaseTimeoutMs} ms`;
    expect(result).toMatchObject({ outcome: "failed", error: { code: "plugin-failed", message } });
    expect(momentsIn(journal)).toMatchObject([{ failed: { plugin: "probe" } }]);
  });

  test("the second time, when it is asked again, is named as well", async () => {
    let calls = 0;
    const world = await begin(
      "before-run",
      pluginOf({ "before-run": () => mark.set("first") }, "first"),
      pluginOf({
        "before-run": () => {
          calls += 1;
          return calls === 1 ? mark.set("mine") : never();
        },
      }),
    );
    const seen = world.seeThrough();
    await world.pass(limits.phaseTimeoutMs);
    const message = `Plugin probe failed in before-run: no answer within ${limits.phaseTimeoutMs} ms`;
    expect((await seen).result).toMatchObject({ outcome: "failed", error: { code: "plugin-failed", message } });
    expect(momentsIn((await seen).journal)).toMatchObject([{ failed: { plugin: "probe" } }]);
  });

  test("has one deadline for all its rounds: who is asked again has the rest of it", async () => {
    let calls = 0;
    const world = await begin(
      "before-run",
      pluginOf({ "before-run": () => mark.set("first") }, "first"),
      pluginOf({
        "before-run": () => {
          calls += 1;
          return calls === 1 ? world.clock.sleep(20_000).then(() => mark.set("mine")) : never();
        },
      }),
    );
    const seen = world.seeThrough();
    await world.pass(limits.phaseTimeoutMs);
    expect(calls).toBe(2);
    expect((await seen).result).toMatchObject({ outcome: "failed", error: { code: "plugin-failed" } });
  });

  test("finds its signal aborted also when it looks at it for the first time then", async () => {
    const entered = aGate<AnyView>();
    const world = await begin(
      "before-run",
      hookedIn("before-run", (view) => {
        entered.open(view);
        return never();
      }),
    );
    const seen = world.seeThrough();
    const view = await entered.opened;
    await world.pass(limits.phaseTimeoutMs);
    expect(view.signal.aborted).toBe(true);
    await seen;
  });
});

test("of several failures the first by registration is the moment's, whichever came first", async () => {
  const { result } = await play(
    "before-run",
    pluginOf({ "before-run": () => turn().then(boom) }),
    pluginOf({ "before-run": () => ({ type: "deny", reason: "no" }) }, "second"),
    pluginOf({ "before-run": boom }, "third"),
  );
  expect(result).toMatchObject({ outcome: "failed", error: { message: "Plugin probe failed in before-run: boom" } });
});
