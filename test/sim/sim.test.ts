import { describe, expect, test } from "vitest";
import { type CampaignReport, runCampaign, showBroken } from "../../src/testing/sim/campaign.ts";
import { faultKinds } from "../../src/testing/sim/faults.ts";
import { createRandom } from "../../src/testing/sim/random.ts";
import { drainTurns } from "../../src/testing/sim/scheduler.ts";
import { simulate } from "../../src/testing/sim/simulate.ts";

const schedules = 2_000;

describe("the simulator", () => {
  let campaign: CampaignReport | undefined;

  test(`${schedules} seeded schedules break nothing`, { timeout: 300_000 }, async () => {
    campaign = await runCampaign({ first: 1, count: schedules });
    expect(campaign.broken && showBroken(campaign.broken)).toBeUndefined();
    expect(campaign.schedules).toBe(schedules);
  });

  test("they meet every fault, every kind of ticket, every end of a run and of an attempt", () => {
    const seen = Object.keys(campaign?.seen ?? {});
    const faults = faultKinds.filter((kind) => kind !== "hint-doubled").map((kind) => `fault ${kind}`);
    expect(seen).toEqual(expect.arrayContaining(faults));
    const tickets = ["approval", "input", "unknown-outcome", "pause", "timer", "quarantined"];
    expect(seen).toEqual(expect.arrayContaining(tickets.map((kind) => `ticket ${kind}`)));
    const outcomes = ["completed", "cancelled", "failed", "stopped", "timed-out", "waiting"];
    expect(seen).toEqual(expect.arrayContaining(outcomes.map((kind) => `run ${kind}`)));
    const settled = ["done", "failed", "refused", "not-made", "lost", "aborted", "unknown"];
    expect(seen).toEqual(expect.arrayContaining(settled.map((kind) => `settled ${kind}`)));
    expect(campaign?.seen.succeeded).toBeGreaterThan(10);
  });

  test("the same seed gives the same trace, byte for byte", async () => {
    for (const seed of [3, 14, 159, 2_653]) {
      const [first, second] = [await simulate(seed), await simulate(seed)];
      expect(first.trace().length).toBeGreaterThan(50);
      expect(second.trace().join("\n")).toBe(first.trace().join("\n"));
    }
  });

  test("a tick drains as completely as a turn of the event loop", async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const [ticks, turns] = [await simulate(seed), await simulate(seed, { drain: drainTurns })];
      expect(ticks.trace().join("\n")).toBe(turns.trace().join("\n"));
    }
  });

  test("neighbouring seeds begin differently", () => {
    const firsts = Array.from({ length: 100 }, (_, seed) => createRandom(seed).next());
    expect(new Set(firsts).size).toBe(100);
    expect(firsts.filter((value) => value < 0.5).length).toBeGreaterThan(30);
  });
});
