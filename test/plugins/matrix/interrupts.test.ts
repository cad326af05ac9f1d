/** While a hook is waited for, a run can still be cancelled, run out of time, or leave its process; the hook's answer is nothing then. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Command } from "../../../src/domain/command.ts";
import { type Phase, phases } from "../../../src/domain/phase.ts";
import { phaseTable } from "../../../src/engine/phases.ts";
import { agent, memory, tool } from "../../../src/index.ts";
import { createFakeClock } from "../../../src/testing/fake-clock.ts";
import { aModelThat, callsTool } from "../../../src/testing/story.ts";
import { countingIds, startProcess, turn } from "../../../src/testing/test-process.ts";
import { aGate, aMoment, never } from "../../scenarios/moments.ts";
import { momentsIn, resultsIn } from "./journal.ts";
import { progressAt } from "./samples.ts";
import { type AnyView, answer, begin, hookedIn, mark, pluginOf } from "./world.ts";

/** on-decision hears nothing more once the run is to end, and neither does it matter what it would have said. */
const waitedFor = phases.filter((phase) => phaseTable[phase].kind === "blocking" && phase !== "on-cancel");

describe.each(waitedFor)("while a hook of %s is waited for", (phase: Phase) => {
  test("a cancel ends the run at once: the signal aborts, and the late answer is nothing", async () => {
    const entered = aGate<AnyView>();
    const late = aGate<readonly Command[]>();
    const world = await begin(
      phase,
      hookedIn(phase, (view) => {
        entered.open(view);
        return late.opened;
      }),
    );
    const seen = world.seeThrough();
    const { signal } = await entered.opened;
    const ended = await (await world.run.cancel({ by: "ana" })).receipt();
    expect(ended.outcome).toBe("cancelled");
    late.open([mark.set("too late")]);
    const played = await seen;
    expect(signal.aborted).toBe(true);
    expect(momentsIn(played.journal)).toEqual([]);
    expect(played.journal.at(-1)).toMatchObject({ type: "run-ended", outcome: { kind: "cancelled" } });
    expect(JSON.stringify(resultsIn(played.journal))).not.toContain(phase === "after-tool" ? answer : "too late");
    const { requests, executed } = progressAt[phase];
    expect([played.requests.length, played.executed.length]).toEqual([requests, executed]);
  });
});

test("its wall time ends a run whose hook hangs, before the hook's own deadline", async () => {
  const hangs = hookedIn("before-model", () => never());
  const { model } = aModelThat("Done.");
  const brief = agent({ name: "brief", instructions: "x", model, plugins: [hangs], budget: { wallTime: 5_000 } });
  const clock = createFakeClock();
  const process = await startProcess({ store: memory(), agents: [brief], clock, ids: countingIds() });
  const run = await process.runtime.start(brief, "go");
  await aMoment();
  await clock.advance(5_000, aMoment);
  expect(await run.result({ signal: AbortSignal.timeout(5_000) })).toMatchObject({ outcome: "timed-out" });
  await process.runtime.close();
});

test("a process that closes does not wait for ever; the next one asks again, and what had happened has happened once", async () => {
  const clock = createFakeClock();
  const store = memory();
  const ids = countingIds();
  let executed = 0;
  const pay = tool({
    name: "pay",
    description: "Pay",
    input: z.object({}),
    execute: () => {
      executed += 1;
      return "paid";
    },
  });
  const asked: string[] = [];
  const code = (process: string, isStuck: boolean): ReturnType<typeof agent> =>
    agent({
      name: "payer",
      instructions: "Pay.",
      model: aModelThat(callsTool("pay"), "Done.").model,
      tools: [pay],
      plugins: [
        pluginOf({
          "after-tool": () => {
            asked.push(process);
            return isStuck ? never() : turn().then(() => ({ type: "rewrite-result", value: "checked" }));
          },
        }),
      ],
    });
  const stuck = code("first", true);
  const first = await startProcess({ store, agents: [stuck], clock, ids, settings: { closeGraceMs: 1_000 } });
  const { id } = await first.runtime.start(stuck, "go");
  await aMoment();
  const closing = first.runtime.close();
  await clock.advance(1_000, aMoment);
  await closing;
  const mended = code("second", false);
  const second = await startProcess({ store, agents: [mended], clock, ids });
  await clock.advance(60_000, aMoment);
  const result = await second.runtime.runs.get(id, mended).result({ signal: AbortSignal.timeout(5_000) });
  expect(result).toMatchObject({ outcome: "completed", output: "Done." });
  expect(asked).toEqual(["first", "second"]);
  expect(executed).toBe(1);
  await second.runtime.close();
});
