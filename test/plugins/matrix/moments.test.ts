/** When a moment is over, and when it is not (M1): what is asked once is asked once, and nothing is applied out of turn. */
import { describe, expect, test } from "vitest";
import type { Command } from "../../../src/domain/command.ts";
import { type Phase, phases } from "../../../src/domain/phase.ts";
import { agent } from "../../../src/index.ts";
import { aModelThat } from "../../../src/testing/story.ts";
import { testRuntime } from "../../../src/testing/test-runtime.ts";
import { momentsIn } from "./journal.ts";
import { answer, mark, play, pluginOf, saysOnce } from "./world.ts";

/** A plugin that has nothing to say, and writes down when it was asked. */
function listener(): { readonly asked: readonly string[]; readonly plugin: ReturnType<typeof pluginOf> } {
  const asked: string[] = [];
  const hooks = Object.fromEntries(
    phases.map((phase) => [phase, (view: { step: number }) => void asked.push(`${phase} ${view.step}`)]),
  );
  return { asked, plugin: pluginOf(hooks, "listener") };
}

test("a plugin that says nothing is asked once at every moment, also around a wait, and leaves no trace", async () => {
  const { asked, plugin } = listener();
  const { journal } = await play("on-decision", plugin);
  expect(asked.filter((moment) => !moment.startsWith("model-delta"))).toEqual([
    ...["before-run 0", "before-step 1", "context-ready 1", "before-model 1", "after-model 1", "tool-gate 1"],
    ...["on-decision 1", "before-tool 1", "after-tool 1", "after-step 1"],
    ...["before-step 2", "context-ready 2", "before-model 2", "output-gate 2", "after-model 2", "after-step 2"],
    ...["before-end 2", "after-run 2"],
  ]);
  expect(momentsIn(journal)).toEqual([]);
});

describe("what is scheduled for a phase that was just passed waits until the run comes to it again", () => {
  const cases: readonly { readonly from: Phase; readonly step: number; readonly to: Phase }[] = [
    { from: "before-model", step: 1, to: "context-ready" },
    { from: "before-model", step: 1, to: "before-step" },
    { from: "before-tool", step: 1, to: "after-model" },
    { from: "on-decision", step: 1, to: "after-model" },
    { from: "before-step", step: 2, to: "after-step" },
  ];
  test.each(cases)("from $from for $to", async ({ from, step, to }) => {
    const says = (): readonly Command[] => [{ type: "schedule", phase: to, command: mark.set("again") }];
    const { journal } = await play(from, pluginOf({ [from]: saysOnce(says, "sync", step) }));
    const changed = journal.find((entry) => entry.type === "state-changed");
    const begun = journal.find((entry) => entry.type === "step-started" && entry.step === 2);
    const isBefore = to === "before-step"; // of the second step
    expect(Math.sign((changed?.seq ?? 0) - (begun?.seq ?? 0))).toBe(isBefore ? -1 : 1);
  });

  test("a reply whose calls have begun is not asked for again", async () => {
    const again: Command = { type: "retry", reason: "Once more." };
    const says = (): readonly Command[] => [{ type: "schedule", phase: "after-model", command: again }];
    const { executed, requests } = await play("before-tool", pluginOf({ "before-tool": saysOnce(says, "sync") }));
    expect(executed).toHaveLength(1);
    expect(JSON.stringify(requests[1])).toContain(answer);
    expect(requests).toHaveLength(3); // the second reply was: it is the next one
  });
});

describe("a question of a plugin is answered before the run ends by itself", () => {
  const asks: Command = { type: "open-ticket", name: "leave", prompt: "Is it well?" };

  test.each(["after-model", "after-step", "before-end"] as const)("asked in the last %s", async (phase) => {
    const { waits, result } = await play(phase, pluginOf({ [phase]: saysOnce(() => [asks], "sync", 2) }));
    expect(waits).toMatchObject([{ ticket: { name: "leave" }, requests: 2 }]);
    expect(result).toMatchObject({ outcome: "completed", output: "Done." });
  });

  test.each([
    ["steps", { calls: [{ tool: "none" }] }],
    ["length", { text: "This is lo", finish: "length" }],
  ] as const)("also when it is stopped by %s", async (code, reply) => {
    const { model } = aModelThat(reply);
    const plugins = [pluginOf({ "after-step": saysOnce(() => [asks], "sync") })];
    const brief = agent({ name: "brief", instructions: "Be brief.", model, plugins, budget: { steps: 1 } });
    await using t = await testRuntime({ agents: [brief] });
    const run = await t.runtime.start(brief, "go");
    const idle = await run.idle();
    const [ticket] = idle.status === "waiting" ? idle.tickets : [];
    expect(ticket).toMatchObject({ kind: "input", name: "leave" });
    if (ticket?.kind === "input") await ticket.answer("yes");
    expect(await run.result()).toMatchObject({ outcome: "stopped", code });
  });
});
