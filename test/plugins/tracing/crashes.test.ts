import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { agent } from "../../../src/index.ts";
import { scripted } from "../../../src/providers/scripted.ts";
import { crashEverywhere } from "../../../src/testing/crash-kit.ts";
import { tracing } from "../../../src/tracing.ts";
import { acting, answerAll, begin, calling } from "../../crash/scenarios/pieces.ts";
import { telemetry, tracesOf } from "./spans.ts";

/** Every play of the kit has a scope of its own. */
function byRun(spans: readonly ReadableSpan[]): readonly (readonly ReadableSpan[])[] {
  const place = ({ attributes }: ReadableSpan): string =>
    `${String(attributes["holdfast.scope"])} ${String(attributes["holdfast.run.id"])}`;
  return [...Map.groupBy(spans, place).values()];
}

/** Every play draws ids of its own; anything else that differs from the uncut play is a problem. */
function isMore(problem: string): boolean {
  const [is, shouldBe] = problem.replaceAll(/00-[\da-f]{32}-[\da-f]{16}-01/g, "(drawn)").split("\ninstead of\n");
  return shouldBe === undefined || !is?.endsWith(`:\n${shouldBe}`);
}

test("T1 wherever the process dies, a run is one trace, has at most one end, and its wait is told", async () => {
  const { tracer, spans } = telemetry();
  const report = await crashEverywhere(
    {
      name: "traced",
      agents: (world) => [
        agent({
          name: "clerk",
          model: scripted([calling("check", "refund"), "Refunded."]),
          instructions: "Be brief.",
          tools: [
            acting(world, { name: "check", effect: "pure" }),
            acting(world, { name: "refund", effect: "idempotent", needsApproval: true }),
          ],
          plugins: [tracing({ tracer })],
        }),
      ],
      script: async (context) =>
        answerAll(await begin(context), (ticket) =>
          ticket.kind === "approval" ? ticket.approve({ key: "yes" }) : undefined,
        ),
    },
    { ways: ["before", "after"] },
  );
  expect(report.failures.flatMap(({ problems }) => problems.filter(isMore))).toEqual([]);
  const runs = byRun(spans());
  expect(runs.length).toBeGreaterThan(20);
  for (const own of runs) {
    expect(tracesOf(own)).toBe(1);
    expect(own.filter(({ name }) => name === "wait approval").length).toBeGreaterThanOrEqual(1);
    expect(own.filter(({ attributes }) => "holdfast.outcome" in attributes).length).toBeLessThanOrEqual(1);
  }
});
