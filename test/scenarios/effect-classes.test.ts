import { expect, test } from "vitest";
import { z } from "zod";
import type { Tool } from "../../src/index.ts";
import { type EffectClass, type Reconciled, ToolFailure, tool } from "../../src/index.ts";
import { aModelThat, anAgentWith, callsTool, given, says } from "../../src/testing/story.ts";
import { aMoment, never } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const nothing = z.object({});
type PlainEffect = Exclude<EffectClass, "transactional" | "child" | "handoff">;
const classes: readonly PlainEffect[] = ["pure", "idempotent", "once"];

interface Behaviour {
  readonly effect: PlainEffect;
  readonly execute: () => unknown;
  readonly reconcile?: (key: string) => Promise<Reconciled>;
}

function act({ effect, execute, reconcile }: Behaviour): Tool {
  const common = { name: "act", description: "Acts", input: nothing, effect, timeoutMs: 5_000, execute };
  return tool(reconcile ? { ...common, reconcile } : common);
}

onEveryStore((freshStore) => {
  const tell = (acting: Tool) =>
    given(anAgentWith(acting), aModelThat(callsTool("act"), says("Done.")), { store: freshStore() });

  for (const effect of classes) {
    test(`${effect}: ToolFailure says nothing happened, and the model reads why`, async () => {
      const acting = act({
        effect,
        execute: () => {
          throw new ToolFailure("the account is closed");
        },
      });
      await using story = await tell(acting);
      const run = await story.userSays("act");
      await story.expectReply(run, "Done.");
      expect(await story.results(run)).toEqual([
        { kind: "error", code: "tool-failed", message: "the account is closed" },
      ]);
    });

    test(`${effect}: another throw is ${effect === "once" ? "an unknown outcome" : "a failure the model reads"}`, async () => {
      const acting = act({
        effect,
        execute: async () => {
          throw new TypeError("x is not a function");
        },
      });
      await using story = await tell(acting);
      const run = await story.userSays("act");
      if (effect === "once") {
        await story.expectWaitingFor(run, "unknown-outcome");
        return;
      }
      await story.expectReply(run, "Done.");
      expect(await story.results(run)).toMatchObject([{ code: "tool-failed", message: "x is not a function" }]);
    });

    test(`${effect}: a timeout is ${effect === "once" ? "an unknown outcome" : "a failure the model reads"}, and the signal aborts`, async () => {
      let aborted = false;
      const acting = tool({
        name: "act",
        description: "Acts",
        input: nothing,
        effect,
        timeoutMs: 5_000,
        execute: (_input, { signal }) => {
          signal.addEventListener("abort", () => {
            aborted = true;
          });
          return never();
        },
      });
      await using story = await tell(acting);
      const run = await story.userSays("act");
      await aMoment();
      await story.pass(4_999);
      expect(aborted).toBe(false);
      await story.pass(1);
      expect(aborted).toBe(true);
      if (effect === "once") {
        await story.expectWaitingFor(run, "unknown-outcome");
        return;
      }
      await story.expectReply(run, "Done.");
      expect(await story.results(run)).toMatchObject([
        { code: "timed-out", message: expect.stringContaining("5000 ms") },
      ]);
    });

    test(`${effect}: after a crash in the middle it ${effect === "once" ? "is not run again" : "runs again with the same key"}`, async () => {
      const acting = act({
        effect,
        execute: () => {
          if (story.effects(acting).length > 1) return "done";
          story.t.process.kill();
          return never();
        },
      });
      await using story = await tell(acting);
      const run = await story.userSays("act");
      await aMoment();
      await story.restart();
      if (effect === "once") {
        await story.expectWaitingFor(run, "unknown-outcome");
        expect(story.effects(acting)).toHaveLength(1);
        return;
      }
      await story.expectReply(run, "Done.");
      const [first, second] = story.effects(acting);
      expect(second).toEqual({ ...first, attempt: 2 });
      expect(await story.results(run)).toEqual([{ kind: "value", value: "done" }]);
    });
  }

  const fates = {
    "done gives its result": {
      reconcile: async (): Promise<Reconciled> => ({ status: "done", result: "found it" }),
      result: { kind: "value", value: "found it" },
    },
    "not-done is a failure the model reads": {
      reconcile: async (): Promise<Reconciled> => ({ status: "not-done" }),
      result: { kind: "error", code: "tool-failed" },
    },
    "unknown opens a ticket": {
      reconcile: async (): Promise<Reconciled> => ({ status: "unknown" }),
      result: undefined,
    },
    "a throw opens a ticket": { reconcile: () => Promise.reject(new Error("bank is down")), result: undefined },
  } as const;

  for (const [fate, { reconcile, result }] of Object.entries(fates)) {
    test(`reconcile after a throw: ${fate}`, async () => {
      const asked: string[] = [];
      const acting = act({
        effect: "once",
        execute: () => {
          throw new Error("socket closed");
        },
        reconcile: (key) => {
          asked.push(key);
          return reconcile();
        },
      });
      await using story = await tell(acting);
      const run = await story.userSays("act");
      if (result) {
        await story.expectReply(run, "Done.");
        expect(await story.results(run)).toMatchObject([result]);
      } else {
        await story.expectWaitingFor(run, "unknown-outcome");
      }
      expect(asked).toEqual([story.effects(acting)[0]?.key]);
      expect(story.effects(acting)).toHaveLength(1);
    });
  }

  test("reconcile that hangs opens a ticket after the tool's timeout", async () => {
    const acting = act({
      effect: "once",
      execute: () => {
        throw new Error("socket closed");
      },
      reconcile: never,
    });
    await using story = await tell(acting);
    const run = await story.userSays("act");
    await aMoment();
    await story.pass(5_000);
    await story.expectWaitingFor(run, "unknown-outcome");
  });

  test("reconcile after a timeout: not-done counts only once the attempt can no longer be running", async () => {
    const askedAt: number[] = [];
    const acting = act({
      effect: "once",
      execute: never,
      reconcile: async () => {
        askedAt.push(story.t.clock.now());
        return { status: "not-done" };
      },
    });
    await using story = await tell(acting);
    const run = await story.userSays("act");
    await aMoment();
    const begun = story.t.clock.now();
    await story.pass(5_000);
    await aMoment();
    expect(await story.results(run)).toEqual([]);
    await story.pass("1m");
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toMatchObject([{ kind: "error", code: "timed-out" }]);
    expect(askedAt).toEqual([begun + 5_000, begun + 25_000 + 5_000]);
  });

  test("reconcile after a crash: done gives the result; not-done, once certain, runs again with the same key", async () => {
    for (const found of ["done", "not-done"] as const) {
      const acting = act({
        effect: "once",
        execute: () => {
          if (story.effects(acting).length > 1) return "ran again";
          story.t.process.kill();
          return never();
        },
        reconcile: async () => (found === "done" ? { status: "done", result: "found it" } : { status: "not-done" }),
      });
      await using story = await tell(acting);
      const run = await story.userSays("act");
      await aMoment();
      await story.restart();
      await story.pass("1m");
      await story.expectReply(run, "Done.");
      const value = found === "done" ? "found it" : "ran again";
      expect(await story.results(run)).toEqual([{ kind: "value", value }]);
      const keys = story.effects(acting).map(({ key }) => key);
      expect(keys).toHaveLength(found === "done" ? 1 : 2);
      expect(new Set(keys).size).toBe(1);
    }
  });
});
