/** Two runs with one plugin never see each other's state: many runs, twins among them, on processes that die. */
import { describe, expect, test } from "vitest";
import { phases } from "../../src/domain/phase.ts";
import { isAllowed } from "../../src/engine/phases.ts";
import { type CampaignReport, runCampaign, showBroken } from "../../src/testing/sim/campaign.ts";
import { simulate } from "../../src/testing/sim/simulate.ts";

/** On a machine that is busy with something else, as many as fit; `npm run sim -- --plugins` has no limit. */
const schedules = Number(process.env.HOLDFAST_SIM_PLUGINS ?? "2000");
const atLeast = Math.min(schedules, 400);
const longestMs = process.env.HOLDFAST_SIM_PLUGINS === undefined ? 15_000 : Number.POSITIVE_INFINITY;

describe("plugins in the simulator", () => {
  let campaign: CampaignReport | undefined;

  test(`up to ${schedules} seeded schedules: each run's state is its own, and each moment is written once`, {
    timeout: 3_600_000,
  }, async () => {
    const started = performance.now();
    const enough = (done: number): boolean => done >= atLeast && performance.now() - started > longestMs;
    campaign = await runCampaign({ first: 1, count: schedules, options: { plugins: true }, enough });
    console.log(`${campaign.schedules} schedules in ${Math.round(performance.now() - started)} ms`);
    expect(campaign.broken && showBroken(campaign.broken)).toBeUndefined();
  });

  test("they write state in every phase that lets them, by plugins and tools, and ask for every kind of thing", () => {
    const { seen = {} } = campaign ?? {};
    const writable = phases.filter((phase) => isAllowed("set-state", phase));
    const commands = ["schedule", "open-ticket", "send-input", "continue", "retry", "rewrite-result", "stop"];
    const names = [
      ...writable.map((phase) => `moment ${phase}`),
      ...commands.map((type) => `command ${type}`),
      ...["mine", "ours", "ticks", "names", "guests", "works"].map((key) => `state ${key}`),
      ...["crash-before", "crash-after", "pause", "commit-unknown"].map((kind) => `fault ${kind}`),
      ...["moment failed", "ticket quarantined", "run completed", "run cancelled", "run stopped"],
    ];
    for (const name of names) expect(seen[name] ?? 0, name).toBeGreaterThan(3);
  });

  test("the same seed gives the same trace, byte for byte", async () => {
    for (const seed of [2, 71, 828]) {
      const [first, second] = [await simulate(seed, { plugins: true }), await simulate(seed, { plugins: true })];
      expect(first.trace().length).toBeGreaterThan(50);
      expect(second.trace().join("\n")).toBe(first.trace().join("\n"));
    }
  });
});
