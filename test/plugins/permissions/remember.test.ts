/** What people wanted to be remembered: how far it reaches, for how long, and what it can never do. */
import { describe, expect, test } from "vitest";
import type { PermissionsOptions } from "../../../src/plugins.ts";
import { aModelThat, callsTool, callsTools, given, says } from "../../../src/testing/story.ts";
import { ada, approveWith, aStoryOf, bob, guarded, pay, questionsIn } from "./setting.ts";

const both: PermissionsOptions = { remember: { scopes: ["run", "thread"] } };

describe("what is remembered", () => {
  test("a tool: whatever its input is, it is not asked about again", async () => {
    await using story = await aStoryOf(both, [
      ["pay", ada],
      ["pay", bob],
      ["wipe", { disk: "a" }],
    ]);
    const run = await story.userSays("go");
    await approveWith(story, run, { remember: "run", what: "tool" });
    expect((await story.expectWaitingFor(run, "approval")).tool).toBe("wipe");
    await approveWith(story, run);
    await story.expectReply(run, "Done.");
    expect(story.effects(pay)).toHaveLength(2);
  });

  test.each([{}, { what: "input" }] as const)(
    "an input (said by %j): that call only, however its fields are ordered",
    async (what) => {
      await using story = await aStoryOf(both, [
        ["pay", ada],
        ["pay", { cents: 5, to: "ada" }],
        ["pay", bob],
      ]);
      const run = await story.userSays("go");
      await approveWith(story, run, { remember: "run", ...what });
      expect((await story.expectWaitingFor(run, "approval")).input).toEqual(bob);
      expect(story.effects(pay)).toHaveLength(2);
    },
  );

  test("an approval without a wish remembers nothing", async () => {
    await using story = await aStoryOf(both, [
      ["pay", ada],
      ["pay", ada],
    ]);
    const run = await story.userSays("go");
    await approveWith(story, run);
    await approveWith(story, run, { seen: true });
    await story.expectReply(run, "Done.");
    expect((await story.journal(run)).some(({ type }) => type === "state-changed")).toBe(false);
  });

  test("R1: the answer to one rule is no answer to another", async () => {
    const rules = [
      { tool: "pay", behavior: "ask" },
      { tool: 'pay(to = "bob")', behavior: "ask", reason: "Bob is new" },
    ] as const;
    await using story = await aStoryOf({ ...both, rules }, [
      ["pay", ada],
      ["pay", bob],
    ]);
    const run = await story.userSays("go");
    await approveWith(story, run, { remember: "run", what: "tool" });
    expect((await story.expectWaitingFor(run, "approval")).prompt).toContain("Bob is new");
  });

  test("R1: no answer beats a deny", async () => {
    const rules = [{ tool: 'pay(to = "bob")', behavior: "deny" }] as const;
    await using story = await aStoryOf({ ...both, rules }, [
      ["pay", ada],
      ["pay", bob],
      ["pay", ada],
    ]);
    const run = await story.userSays("go");
    await approveWith(story, run, { remember: "run", what: "tool" });
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toMatchObject([{ kind: "value" }, { code: "denied" }, { kind: "value" }]);
    expect(await questionsIn(story, run)).toHaveLength(1);
  });
});

describe("how far it reaches", () => {
  const threeRuns = (): ReturnType<typeof aModelThat> =>
    aModelThat(...[1, 2, 3].flatMap(() => [callsTool("pay", ada), says("Done.")]));

  test("a run: the next run of the thread asks again", async () => {
    await using story = await given(guarded(both), threeRuns());
    const first = await story.userSays("go", { thread: "t-1" });
    await approveWith(story, first, { remember: "run" });
    await story.expectReply(first, "Done.");
    const second = await story.userSays("go", { thread: "t-1" });
    await story.expectWaitingFor(second, "approval");
  });

  test("a thread: its later runs do not ask, those of other threads do; queued ones are later ones", async () => {
    await using story = await given(guarded(both), threeRuns());
    const first = await story.userSays("go", { thread: "t-1" });
    await story.expectWaitingFor(first, "approval");
    const queued = await story.userSays("go", { thread: "t-1", whenBusy: "queue" });
    await approveWith(story, first, { remember: "thread" });
    await story.expectReply(first, "Done.");
    await story.expectReply(queued, "Done.");
    expect(await questionsIn(story, queued)).toEqual([]);
    const elsewhere = await story.userSays("go", { thread: "t-2" });
    await story.expectWaitingFor(elsewhere, "approval");
  });
});

describe("two calls of one step", () => {
  const twice = callsTools(["pay", ada], ["pay", bob]);

  test("each has its own ticket; remembering one does not answer the other, which was asked already", async () => {
    await using story = await given(guarded(both), aModelThat(twice, twice, says("Done.")));
    const run = await story.userSays("go");
    await approveWith(story, run, { remember: "run", what: "tool" });
    await approveWith(story, run);
    await story.expectReply(run, "Done.");
    expect(await questionsIn(story, run)).toHaveLength(2);
    expect(story.effects(pay)).toHaveLength(4);
  });

  test("both are remembered when both are answered at once", async () => {
    await using story = await given(guarded(both), aModelThat(twice, twice, says("Done.")));
    const run = await story.userSays("go");
    await story.expectWaitingFor(run, "approval");
    const tickets = await story.t.runtime.tickets.list({ run: run.id, status: "open", kind: "approval" });
    await Promise.all(
      tickets.map((ticket) => ticket.kind === "approval" && ticket.approve({ value: { remember: "run" } })),
    );
    await story.expectReply(run, "Done.");
    expect(await questionsIn(story, run)).toHaveLength(2);
    const { values } = await story.t.runtime.runs.get(run.id).state();
    expect(values["permissions.run"]).toMatchObject([{ tool: "pay" }, { tool: "pay" }]);
  });
});

describe("for how long", () => {
  /** A run that pays ada in one step, then waits to be told to go on, then pays her again. */
  async function paidAgainAfter(ms: number, options: PermissionsOptions, wish: object): Promise<number> {
    const pause = callsTool("wipe", { disk: "x" });
    const model = aModelThat(callsTool("pay", ada), pause, callsTool("pay", ada), says("Done."));
    await using story = await given(guarded(options), model);
    const run = await story.userSays("go");
    await approveWith(story, run, { remember: "run", ...wish });
    await story.expectWaitingFor(run, "wipe");
    await story.pass(ms);
    await approveWith(story, run);
    const idle = await run.idle();
    return idle.status === "done" ? 0 : idle.tickets.length;
  }

  test.each([
    [59_999, 0],
    [60_000, 1],
  ])("R2: asked for a minute, after %d ms it is asked about %d times more", async (ms, asked) => {
    expect(await paidAgainAfter(ms, both, { forMs: 60_000 })).toBe(asked);
  });

  test.each([
    [3_599_999, 0],
    [3_600_000, 1],
  ])("an hour when nobody says, after %d ms it is asked about %d times more", async (ms, asked) => {
    expect(await paidAgainAfter(ms, both, {})).toBe(asked);
  });

  test.each([
    [4_999, 0],
    [5_000, 1],
  ])("the default time of the config, after %d ms it is asked about %d times more", async (ms, asked) => {
    expect(await paidAgainAfter(ms, { remember: { defaultMs: 5_000 } }, {})).toBe(asked);
  });

  test.each([
    [1_999, 0],
    [2_000, 1],
  ])(
    "a longest time under an hour is the default one too, after %d ms it is asked %d times more",
    async (ms, asked) => {
      expect(await paidAgainAfter(ms, { remember: { maxMs: 2_000 } }, {})).toBe(asked);
    },
  );
});
