/** Checks that misbehave: a broken gate never lets a call through. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { StandardSchema } from "../../src/domain/standard-schema.ts";
import { type Tool, tool } from "../../src/index.ts";
import { aModelThat, anAgentWith, callsTool, callsTools, given, says } from "../../src/testing/story.ts";
import { aMoment, never } from "../scenarios/moments.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const amount = z.object({ n: z.number() });

function gated(needsApproval: (input: { n: number }) => unknown): Tool {
  return tool({
    name: "act",
    description: "Acts",
    input: amount,
    needsApproval: needsApproval as never,
    execute: ({ n }) => n,
  });
}

function schemaThat(validate: (value: unknown) => unknown): StandardSchema<{ n: number }> {
  const jsonSchema = { input: () => ({ type: "object" }), output: () => ({ type: "object" }) };
  return { "~standard": { version: 1, vendor: "test", validate: validate as never, jsonSchema } };
}

function checked(schema: StandardSchema<{ n: number }>): Tool {
  return tool({ name: "act", description: "Acts", input: schema, effect: "pure", execute: ({ n }) => n });
}

type Settle = (value: unknown) => void;

/** Can be awaited, and is no Promise. */
function thenable(value: unknown, settle: "resolve" | "reject" = "resolve"): object {
  const then = (resolve: Settle, reject: Settle) => (settle === "resolve" ? resolve : reject)(value);
  return { then };
}

onEveryStore((freshStore) => {
  const tell = (acting: Tool) =>
    given(anAgentWith(acting), aModelThat(callsTool("act", { n: 1 }), says("Done.")), { store: freshStore() });

  const throwing: Record<string, () => unknown> = {
    throws: () => {
      throw new Error("rule book lost");
    },
    rejects: () => Promise.reject(new Error("rule book lost")),
    "is a thenable that rejects": () => thenable(new Error("rule book lost"), "reject"),
  };
  for (const [what, rule] of Object.entries(throwing)) {
    test(`needsApproval that ${what} refuses the call, and the model reads why`, async () => {
      const acting = gated(rule);
      await using story = await tell(acting);
      const run = await story.userSays("act");
      await story.expectReply(run, "Done.");
      expect(await story.results(run)).toEqual([
        { kind: "error", code: "tool-failed", message: "Checking the call threw: rule book lost" },
      ]);
      expect(story.effects(acting)).toEqual([]);
    });

    test(`a schema that ${what} refuses the call, and the model reads why`, async () => {
      const acting = checked(schemaThat(rule));
      await using story = await tell(acting);
      const run = await story.userSays("act");
      await story.expectReply(run, "Done.");
      expect(await story.results(run)).toMatchObject([{ message: "Checking the call threw: rule book lost" }]);
      expect(story.effects(acting)).toEqual([]);
    });
  }

  test("needsApproval that hangs refuses the call after its limit, and its neighbour has long run", async () => {
    const acting = gated(never);
    const free = tool({ name: "free", description: "Free", input: amount, effect: "pure", execute: () => "ran" });
    const model = aModelThat(callsTools(["act", { n: 1 }], ["free", { n: 1 }]), says("Done."));
    await using story = await given(anAgentWith(acting, free), model, { store: freshStore() });
    const run = await story.userSays("act");
    await aMoment();
    expect(await story.results(run)).toEqual([{ kind: "value", value: "ran" }]);
    await story.pass("30s");
    await story.expectReply(run, "Done.");
    expect((await story.results(run))[1]).toMatchObject({
      code: "tool-failed",
      message: expect.stringContaining("30000 ms"),
    });
    expect(story.effects(acting)).toEqual([]);
  });

  for (const [how, wrap] of Object.entries({
    promise: (v: boolean) => Promise.resolve(v),
    thenable: (v: boolean) => thenable(v),
  })) {
    for (const needed of [true, false]) {
      test(`needsApproval may answer ${needed} by a ${how}`, async () => {
        const acting = gated(() => wrap(needed));
        await using story = await tell(acting);
        const run = await story.userSays("act");
        if (needed) await story.approve(run, "act");
        await story.expectReply(run, "Done.");
        expect(story.effects(acting)).toHaveLength(1);
      });
    }

    test(`a schema may answer by a ${how}: what fits runs, what does not is told`, async () => {
      for (const fits of [true, false]) {
        const answer = fits ? { value: { n: 5 } } : { issues: [{ message: "too small", path: ["n"] }] };
        const acting = checked(schemaThat(() => wrap(answer as never)));
        await using story = await tell(acting);
        const run = await story.userSays("act");
        await story.expectReply(run, "Done.");
        expect(await story.results(run)).toMatchObject([
          fits ? { kind: "value", value: 5 } : { code: "invalid-input", message: "$.n: too small" },
        ]);
      }
    });
  }

  test("a verdict that a crash has lost is judged again", async () => {
    let judged = 0;
    const acting = gated(async () => {
      judged += 1;
      if (judged > 1) return true;
      return never();
    });
    await using story = await tell(acting);
    const run = await story.userSays("act");
    await aMoment();
    story.t.process.kill();
    await story.restart();
    await story.approve(run, "act");
    await story.expectReply(run, "Done.");
    expect(judged).toBe(2);
  });

  const nonsense: Record<string, unknown> = {
    undefined: undefined,
    null: null,
    "a string": "fine",
    "issues that are no list": { issues: 7 },
    "an issue that is null": { issues: [null] },
    "an issue with a null path": { issues: [{ message: "x", path: [null] }] },
  };
  for (const [what, answer] of Object.entries(nonsense)) {
    test(`a schema that answers ${what} does not let the call through`, async () => {
      const acting = checked(schemaThat(() => answer));
      await using story = await tell(acting);
      const run = await story.userSays("act");
      await story.expectReply(run, "Done.");
      expect(await story.results(run)).toMatchObject([{ kind: "error", code: "tool-failed" }]);
      expect(story.effects(acting)).toEqual([]);
    });
  }

  test("a hundred thousand issues are told in bounded words", async () => {
    const issues = Array.from({ length: 100_000 }, (_, n) => ({ message: "too small \ud800", path: ["list", n] }));
    await using story = await tell(checked(schemaThat(() => ({ issues }))));
    const run = await story.userSays("act");
    await story.expectReply(run, "Done.");
    const [result] = await story.results(run);
    expect(result?.kind === "error" && result.message.length).toBeLessThan(20_000);
    expect(result?.kind === "error" && result.message.isWellFormed()).toBe(true);
  });

  test("a schema that changes its mind between the gate and the run says that nothing happened", async () => {
    let asked = 0;
    const moody = schemaThat((value) => {
      asked += 1;
      return asked === 1 ? { value } : { issues: [{ message: "not any more" }] };
    });
    const acting = tool({ name: "act", description: "Acts", input: moody, execute: () => "ran" });
    await using story = await tell(acting);
    const run = await story.userSays("act");
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toMatchObject([
      { code: "tool-failed", message: expect.stringContaining("not any more") },
    ]);
    expect(story.effects(acting)).toEqual([]);
  });
});
