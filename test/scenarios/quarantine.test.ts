import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import { aModelThat, anAgentWith, callsTool, given, type Story, says } from "../../src/testing/story.ts";
import { turn } from "../../src/testing/test-process.ts";
import { aMoment, never } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const nothing = z.object({});

interface Deadly {
  readonly story: Story;
  readonly executions: () => number;
  /** How often its code still kills its process. */
  lives(count: number): void;
}

/** A tool that takes its process with it. */
async function aDeadlyStory(store: Parameters<typeof given>[2]): Promise<Deadly> {
  let deaths = Number.POSITIVE_INFINITY;
  const bomb = tool({
    name: "bomb",
    description: "Kills its process",
    input: nothing,
    effect: "pure",
    execute: async () => {
      if (deaths <= 0) return "survived";
      deaths -= 1;
      await turn(); // a process that is still starting cannot be killed by its own tool yet
      story.t.process.kill();
      return never();
    },
  });
  const quiet = tool({ name: "quiet", description: "Harmless", input: nothing, effect: "pure", execute: () => "ok" });
  const model = aModelThat(
    ({ messages }) => (JSON.stringify(messages).includes("harmless") ? callsTool("quiet") : callsTool("bomb")),
    says("Done."),
  );
  const story: Story = await given(anAgentWith(bomb, quiet), model, store);
  return {
    story,
    executions: () => story.effects(bomb).length,
    lives: (count) => {
      deaths = count;
    },
  };
}

onEveryStore((freshStore) => {
  test("a run whose process dies four times in a row without getting anywhere is set aside, and its neighbours go on", async () => {
    const { story, executions } = await aDeadlyStory({ store: freshStore() });
    const run = await story.userSays("explode");
    await aMoment();
    expect(executions()).toBe(1); // a claim that got somewhere: the model had answered
    for (let deaths = 1; deaths <= 4; deaths += 1) {
      await story.restart();
      expect(executions()).toBe(1 + deaths);
    }
    await story.restart();
    const ticket = await story.expectWaitingFor(run, "quarantined");
    expect(ticket.prompt).toContain("4 times");
    expect(executions()).toBe(5);
    await story.expectReply(await story.userSays("harmless"), "Done.");
    await story.restart();
    await story.pass("1d");
    await story.expectWaitingFor(run, "quarantined");
    expect(executions()).toBe(5);
    await story.close();
  });

  test("released, it tries again, and a cured one is completed", async () => {
    const { story, executions, lives } = await aDeadlyStory({ store: freshStore() });
    const run = await story.userSays("explode");
    await aMoment();
    for (let count = 0; count < 5; count += 1) await story.restart();
    lives(0);
    await (await story.expectWaitingFor(run, "quarantined")).release({ by: "ops" });
    await story.expectReply(run, "Done.");
    expect(executions()).toBe(6);
    await story.close();
  });

  test("released but not cured, it is set aside again after four more", async () => {
    const { story, executions } = await aDeadlyStory({ store: freshStore() });
    const run = await story.userSays("explode");
    await aMoment();
    for (let count = 0; count < 5; count += 1) await story.restart();
    const first = await story.expectWaitingFor(run, "quarantined");
    await first.release();
    await aMoment();
    for (let count = 0; count < 4; count += 1) await story.restart();
    const second = await story.expectWaitingFor(run, "quarantined");
    expect(second.id).not.toBe(first.id);
    expect(executions()).toBe(9);
    await story.close();
  });

  test("cancelled, it ends without being run", async () => {
    const { story, executions } = await aDeadlyStory({ store: freshStore() });
    const run = await story.userSays("explode");
    await aMoment();
    for (let count = 0; count < 5; count += 1) await story.restart();
    await (await story.expectWaitingFor(run, "quarantined")).cancelRun();
    await story.expectOutcome(run, "cancelled");
    expect(executions()).toBe(5);
    expect(await story.results(run)).toHaveLength(1);
    await story.close();
  });

  test("a run that gets somewhere between its crashes is never set aside", async () => {
    const store = freshStore();
    const step = tool({ name: "step", description: "A step", input: nothing, effect: "pure", execute: () => "ok" });
    const fatal = new Set<number>();
    const model = aModelThat(
      ...Array.from({ length: 9 }, (_, index) => () => {
        if (fatal.has(index)) return callsTool("step");
        fatal.add(index);
        story.t.process.kill();
        return says("nobody hears this");
      }),
      says("Done."),
    );
    const story: Story = await given(anAgentWith(step), model, { store });
    const run = await story.userSays("go");
    await aMoment();
    for (let count = 0; count < 9; count += 1) await story.restart();
    await story.expectReply(run, "Done.");
    await story.close();
  });
});
