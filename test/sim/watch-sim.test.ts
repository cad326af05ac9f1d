import { describe, expect, test } from "vitest";
import { type CampaignReport, runCampaign, showBroken } from "../../src/testing/sim/campaign.ts";
import { simulate } from "../../src/testing/sim/simulate.ts";

const schedules = 10_000;
/** On a machine that is busy with something else, as many as fit; `npm run sim -- --watch` has no limit. */
const atLeast = 3_000;
const longestMs = 60_000;

describe("watching in the simulator", () => {
  let campaign: CampaignReport | undefined;

  test(`up to ${schedules} seeded schedules: every spectator folds the transcript, every message is answered once`, {
    timeout: 300_000,
  }, async () => {
    const started = performance.now();
    const enough = (done: number): boolean => done >= atLeast && performance.now() - started > longestMs;
    campaign = await runCampaign({ first: 1, count: schedules, options: { watching: true }, enough });
    console.log(`${campaign.schedules} schedules in ${Math.round(performance.now() - started)} ms`);
    expect(campaign.broken && showBroken(campaign.broken)).toBeUndefined();
  });

  test("they meet every kind of frame, every way to leave, messages that come as a run ends, and successors", () => {
    const { seen = {} } = campaign ?? {};
    const frames = [
      "message-partial",
      "text-delta",
      "tool-input-delta",
      "tool-progress",
      "message-retracted",
      "resync",
    ];
    const sittings = ["over", "left", "broke", "to the end"];
    const names = [
      ...frames.map((name) => `frame ${name}`),
      ...sittings.map((name) => `sitting ${name}`),
      ...["done", "lost", "failed", "aborted", "not-made"].map((kind) => `settled ${kind}`),
    ];
    for (const name of [...names, "said", "steered", "refused", "succeeded"])
      expect(seen[name], name).toBeGreaterThan(10);
  });

  test("the same seed gives the same trace and the same frames", async () => {
    for (const seed of [5, 77, 1_234]) {
      const [first, second] = [await simulate(seed, { watching: true }), await simulate(seed, { watching: true })];
      expect(second.trace().join("\n")).toBe(first.trace().join("\n"));
      expect(second.seen).toEqual(first.seen);
    }
  });
});
