/** Tools that misbehave: the run ends as it should, the model reads what and where, and no neighbour is disturbed. */
import { expect, test } from "vitest";
import { z } from "zod";
import { ToolFailure, tellModel, tool } from "../../src/index.ts";
import { createToolRunner } from "../../src/runtime/bind-agent.ts";
import { aModelThat, anAgentWith, callsTool, callsTools, given, says } from "../../src/testing/story.ts";
import { aMoment, never } from "../scenarios/moments.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const nothing = z.object({});
const loneSurrogate = "a\ud800b";

function thrower(what: unknown): () => never {
  return () => {
    throw what;
  };
}

const trap = (): never => {
  throw new Error("trapped");
};
const traps = { has: trap, ownKeys: trap, getPrototypeOf: trap };
const hostile = new Proxy({}, { get: trap, ...traps });
/** Can be awaited, and nothing else. */
const sly = new Proxy({}, { get: (_target, key) => (key === "then" ? undefined : trap()), ...traps });

class Unreadable extends Error {
  override get message(): string {
    throw new Error("no message for you");
  }
}

function aCycle(): object {
  const cycle: { list: unknown[] } = { list: [] };
  cycle.list.push({ cycle });
  return cycle;
}

function aRevokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const throws: Record<string, { what: unknown; says: RegExp }> = {
  "an Error": { what: new Error("boom"), says: /^boom$/ },
  "an Error with a lone surrogate": { what: new Error(loneSurrogate), says: /^a\ufffdb$/ },
  "an Error of 10 MB": { what: new Error("x".repeat(10_000_000)), says: /^x+… \(10000000 characters\)$/ },
  "an Error without a readable message": { what: new Unreadable(), says: /cannot be shown/ },
  "an Error whose message is no string": { what: Object.assign(new Error(""), { message: 7 }), says: /^7$/ },
  "an Error whose message is a symbol": {
    what: Object.assign(new Error(""), { message: Symbol("s") }),
    says: /Symbol\(s\)/,
  },
  "a string": { what: "just text", says: /^just text$/ },
  "a lone surrogate": { what: loneSurrogate, says: /^a\ufffdb$/ },
  null: { what: null, says: /^null$/ },
  undefined: { what: undefined, says: /^undefined$/ },
  "a symbol": { what: Symbol("s"), says: /Symbol\(s\)/ },
  "an object without a prototype": { what: Object.create(null), says: /cannot be shown/ },
  "a proxy that throws": { what: hostile, says: /cannot be shown/ },
  "a revoked proxy": { what: aRevokedProxy(), says: /cannot be shown/ },
  "what looks like a ToolFailure and has no message": {
    what: { "~toolFailure": true },
    says: /object Object/,
  },
};

const values: Record<string, { value: () => unknown; says: RegExp }> = {
  "a function": { value: () => () => 1, says: /a function at \$$/ },
  "a function inside": { value: () => ({ a: [1, () => 1] }), says: /a function at \$\.a\[1\]$/ },
  "a symbol": { value: () => Symbol("s"), says: /a symbol at \$$/ },
  "a BigInt": { value: () => ({ n: 1n }), says: /a bigint at \$\.n$/ },
  NaN: { value: () => ({ n: Number.NaN }), says: /the number NaN at \$\.n$/ },
  Infinity: { value: () => [Number.NEGATIVE_INFINITY], says: /the number -Infinity at \$\[0\]$/ },
  "a cycle": { value: aCycle, says: /a cycle at \$\.list\[0\]\.cycle$/ },
  "a lone surrogate": { value: () => ({ text: loneSurrogate }), says: /lone surrogate at \$\.text$/ },
  "a key with a lone surrogate": { value: () => ({ [loneSurrogate]: 1 }), says: /a key with a lone surrogate at \$$/ },
  "more than 16 MiB": {
    value: () => "x".repeat(16 * 1024 * 1024),
    says: /16777218 bytes of JSON, the limit is 16777216 at \$$/,
  },
  "nesting of 10,000": { value: () => nested(10_000), says: /nesting deeper than 64/ },
  "a getter that throws": {
    value: () => ({
      get a(): never {
        throw new Error("trapped");
      },
    }),
    says: /reading the value threw: trapped/,
  },
  "a toJSON that throws": { value: () => ({ toJSON: trap }), says: /reading the value threw: trapped/ },
  "a proxy that throws": { value: () => sly, says: /reading the value threw: trapped/ },
  "a list with a huge hole": {
    value: () => Object.assign([], { length: 50_000_000 }),
    says: /more than 1048576 values/,
  },
  "words for the model that are no string": {
    value: () => tellModel(1, (() => "later") as never),
    says: /what it tells the model.*a function/,
  },
  "words for the model of more than 1 MiB": {
    value: () => tellModel(1, "x".repeat(2_000_000)),
    says: /what it tells the model.*bytes/,
  },
  "words for the model with a lone surrogate": {
    value: () => tellModel(1, loneSurrogate),
    says: /what it tells the model.*lone surrogate/,
  },
};

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

onEveryStore((freshStore) => {
  const good = tool({ name: "good", description: "Good", input: nothing, effect: "pure", execute: () => "good" });

  for (const [what, { what: cause, says: text }] of Object.entries(throws)) {
    test(`a tool that throws ${what}: the model reads it, the neighbour's call is whole, the run goes on`, async () => {
      const bad = tool({ name: "bad", description: "Bad", input: nothing, effect: "pure", execute: thrower(cause) });
      const model = aModelThat(callsTools(["bad", {}], ["good", {}]), says("Done."));
      await using story = await given(anAgentWith(bad, good), model, { store: freshStore() });
      const run = await story.userSays("go");
      await story.expectReply(run, "Done.");
      const results = await story.results(run);
      expect(results).toHaveLength(2);
      expect(results).toContainEqual({ kind: "value", value: "good" });
      expect(results).toContainEqual({ kind: "error", code: "tool-failed", message: expect.stringMatching(text) });
    });

    test(`a once tool that throws ${what} has an unknown outcome with a ticket that can be decided`, async () => {
      if (what.includes("ToolFailure")) return;
      const bad = tool({ name: "bad", description: "Bad", input: nothing, execute: thrower(cause) });
      await using story = await given(anAgentWith(bad), aModelThat(callsTool("bad"), says("Done.")), {
        store: freshStore(),
      });
      const run = await story.userSays("go");
      const ticket = await story.expectWaitingFor(run, "unknown-outcome");
      expect(ticket.prompt.isWellFormed()).toBe(true);
      expect(ticket.prompt.length).toBeLessThan(20_000);
      await ticket.markFailed("gone");
      await story.expectReply(run, "Done.");
    });
  }

  for (const effect of ["pure", "once"] as const) {
    for (const [what, { value, says: text }] of Object.entries(values)) {
      test(`a ${effect} tool that returns ${what}: the model reads what and where`, async () => {
        const bad = tool({ name: "bad", description: "Bad", input: nothing, effect, execute: () => value() });
        const model = aModelThat(callsTools(["bad", {}], ["good", {}]), says("Done."));
        await using story = await given(anAgentWith(bad, good), model, { store: freshStore() });
        const run = await story.userSays("go");
        await story.expectReply(run, "Done.");
        const results = await story.results(run);
        expect(results).toHaveLength(2);
        const message = expect.stringMatching(text);
        expect(results).toContainEqual({ kind: "error", code: "invalid-result", message });
      });
    }
  }

  test("a tool that returns what cannot even be awaited has thrown: a failure, of a once tool an unknown outcome", async () => {
    for (const value of [hostile, aRevokedProxy()]) {
      const bad = tool({ name: "bad", description: "Bad", input: nothing, effect: "pure", execute: () => value });
      const once = tool({ name: "once", description: "Bad", input: nothing, execute: () => value });
      const model = aModelThat(callsTools(["bad", {}], ["once", {}]), says("Done."));
      await using story = await given(anAgentWith(bad, once), model, { store: freshStore() });
      const run = await story.userSays("go");
      await (await story.expectWaitingFor(run, "unknown-outcome")).markFailed("no");
      await story.expectReply(run, "Done.");
      expect(await story.results(run)).toMatchObject([{ code: "tool-failed" }, { code: "marked-failed" }]);
    }
  });

  test("a reconcile that answers nonsense leaves the outcome unknown", async () => {
    for (const answer of [
      undefined,
      null,
      7,
      "done",
      {},
      { status: "maybe" },
      sly,
      { status: "done", result: () => 1 },
    ]) {
      const bad = tool({
        name: "bad",
        description: "Bad",
        input: nothing,
        execute: thrower(new Error("boom")),
        reconcile: async () => answer as never,
      });
      await using story = await given(anAgentWith(bad), aModelThat(callsTool("bad"), says("Done.")), {
        store: freshStore(),
      });
      const run = await story.userSays("go");
      if (typeof answer === "object" && answer !== sly && answer && "result" in answer) {
        await story.expectReply(run, "Done.");
        expect(await story.results(run)).toMatchObject([{ code: "invalid-result" }]);
      } else {
        await story.expectWaitingFor(run, "unknown-outcome");
      }
    }
  });

  test("a small result that unfolds into an endless one is refused at once", async () => {
    let folded: unknown = [1];
    for (let level = 0; level < 60; level += 1) folded = [folded, folded];
    const bad = tool({ name: "bad", description: "Bad", input: nothing, effect: "pure", execute: () => folded });
    await using story = await given(anAgentWith(bad), aModelThat(callsTool("bad"), says("Done.")), {
      store: freshStore(),
    });
    const run = await story.userSays("go");
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toMatchObject([{ code: "invalid-result" }]);
  });

  test("a ToolFailure with a lone surrogate is stored well-formed", async () => {
    const bad = tool({
      name: "bad",
      description: "Bad",
      input: nothing,
      execute: thrower(new ToolFailure(loneSurrogate)),
    });
    await using story = await given(anAgentWith(bad), aModelThat(callsTool("bad"), says("Done.")), {
      store: freshStore(),
    });
    const run = await story.userSays("go");
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toEqual([{ kind: "error", code: "tool-failed", message: "a\ufffdb" }]);
  });

  test("what JSON can hold is stored as it is: undefined, dates, empty and odd keys, unicode, exactly 128 KiB", async () => {
    const size = "x".repeat(128 * 1024 - 2);
    const fine = [undefined, new Date(0), { "": 1, "a.b": [null, undefined] }, "\u0000\u2028😀", size];
    const expected = [null, "1970-01-01T00:00:00.000Z", { "": 1, "a.b": [null, null] }, "\u0000\u2028😀", size];
    const echo = tool({
      name: "echo",
      description: "Echoes",
      input: z.object({ n: z.number() }),
      effect: "pure",
      execute: ({ n }) => fine[n],
    });
    const model = aModelThat(callsTools(...fine.map((_, n) => ["echo", { n }] as const)), says("Done."));
    await using story = await given(anAgentWith(echo), model, { store: freshStore() });
    const run = await story.userSays("go");
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toEqual(expected.map((value) => ({ kind: "value", value })));
  });

  test("a tool that hangs and ignores abort holds neither its run beyond the timeout nor other runs", async () => {
    const hang = tool({
      name: "hang",
      description: "Hangs",
      input: nothing,
      effect: "pure",
      timeoutMs: 1_000,
      execute: never,
    });
    const model = aModelThat(
      ({ messages }) => (JSON.stringify(messages).includes("harmless") ? callsTool("good") : callsTool("hang")),
      says("Done."),
    );
    await using story = await given(anAgentWith(hang, good), model, { store: freshStore() });
    const stuck = await story.userSays("go");
    await story.expectReply(await story.userSays("harmless"), "Done.");
    await aMoment();
    await story.pass("1s");
    await story.expectReply(stuck, "Done.");
    expect(await story.results(stuck)).toMatchObject([{ code: "timed-out" }]);
  });

  test("a tool that keeps calling back after its end changes nothing", async () => {
    let seen: AbortSignal | undefined;
    const odd = tool({
      name: "odd",
      description: "Odd",
      input: nothing,
      effect: "pure",
      execute: (_input, { log, signal }) => {
        seen = signal;
        log("noted", { cycle: aCycle() });
        return "ok";
      },
    });
    await using story = await given(anAgentWith(odd), aModelThat(callsTool("odd"), says("Done.")), {
      store: freshStore(),
    });
    const run = await story.userSays("go");
    await story.expectReply(run, "Done.");
    expect(seen?.aborted).toBe(false);
  });
});

test("a tool whose code is gone since the call was approved does not look as if it had run", async () => {
  const question = tool({ name: "pay", description: "Pays", input: nothing });
  const runner = createToolRunner([question]);
  await expect(runner.execute("pay", {}, {} as never)).rejects.toThrow("Tool pay has no code here any more");
});
