/** Decisions and edits that do not fit: a typed error, the ticket still open, nothing run. */
import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import { aModelThat, anAgentWith, callsTool, given, type Story, says } from "../../src/testing/story.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const refund = tool({
  name: "refund",
  description: "Refunds",
  input: z.object({ order: z.string(), cents: z.number().int().positive(), mail: z.email().optional() }),
  needsApproval: true,
  execute: ({ cents }) => ({ cents }),
});

function aCycle(): unknown {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  return cycle;
}

const unstorable: Record<string, unknown> = {
  "a function": () => 1,
  "a cycle": aCycle(),
  "a BigInt": 1n,
  NaN: Number.NaN,
  "a lone surrogate": "\ud800",
  "more than 1 MiB": "x".repeat(1024 * 1024),
  "nesting of 10,000": JSON.parse(`${"[".repeat(10_000)}${"]".repeat(10_000)}`),
};

onEveryStore((freshStore) => {
  async function aWaitingRun() {
    const model = aModelThat(callsTool("refund", { order: "42", cents: 100 }), says("Done."));
    const story = await given(anAgentWith(refund), model, { store: freshStore() });
    const run = await story.userSays("refund");
    return { story, run, ticket: await story.expectWaitingFor(run, "approval") };
  }

  async function expectUntouched(story: Story, run: { id: never } | Parameters<Story["journal"]>[0]): Promise<void> {
    const ticket = await story.expectWaitingFor(run, "approval");
    expect(story.effects(refund)).toEqual([]);
    await ticket.approve();
    await story.expectReply(run, "Done.");
    expect(story.effects(refund)).toHaveLength(1);
  }

  for (const [what, value] of Object.entries(unstorable)) {
    test(`an answer, an edit and a reason that are ${what} are refused, each as a rejection`, async () => {
      const { story, run, ticket } = await aWaitingRun();
      await using _ = story;
      const offers = [
        () => ticket.answer(value),
        () => ticket.edit(value as never),
        () => ticket.approve({ value: value as never }),
        () => story.t.runtime.tickets.decide(ticket.id, { kind: "answer", value: value as never, hash: ticket.hash }),
      ];
      for (const offer of offers) await expect(offer()).rejects.toMatchObject({ code: "invalid-decision" });
      await expect(ticket.reject(value as string)).rejects.toMatchObject({ code: "invalid-decision" });
      await expectUntouched(story, run);
    });
  }

  const edits: Record<string, { input: unknown; problem: RegExp }> = {
    "lacks a field": { input: { order: "42" }, problem: /required property 'cents'/ },
    "has a field of the wrong type": { input: { order: 42, cents: 1 }, problem: /\$\/order must be string/ },
    "is out of range": { input: { order: "42", cents: -5 }, problem: /\$\/cents must be > 0/ },
    "is null": { input: null, problem: /must be object/ },
    "is undefined": { input: undefined, problem: /must be object/ },
    "is a list": { input: [], problem: /must be object/ },
    "has every problem at once": { input: { order: 1, cents: "x" }, problem: /order.*cents/ },
  };
  for (const [what, { input, problem }] of Object.entries(edits)) {
    test(`an edit that ${what} is refused before it is posted, and the ticket is still open`, async () => {
      const { story, run, ticket } = await aWaitingRun();
      await using _ = story;
      const before = await story.journal(run);
      await expect(ticket.edit(input as never)).rejects.toMatchObject({
        code: "invalid-edit",
        message: expect.stringMatching(problem),
      });
      expect(await story.journal(run)).toEqual(before);
      await expectUntouched(story, run);
    });
  }

  test("an edit needs no code: a format that only the code knows is left to the worker", async () => {
    const { story, run, ticket } = await aWaitingRun();
    await using _ = story;
    await ticket.edit({ order: "42", cents: 7, mail: "ada@example.com" });
    await story.expectReply(run, "Done.");
    expect(story.effects(refund).map(({ input }) => input)).toEqual([
      { order: "42", cents: 7, mail: "ada@example.com" },
    ]);
  });

  const wrong: Record<string, { answer: unknown; code: string; says: RegExp }> = {
    null: { answer: null, code: "invalid-decision", says: /kind, hash/ },
    text: { answer: "approve", code: "invalid-decision", says: /kind, hash/ },
    nothing: { answer: {}, code: "invalid-decision", says: /the verbs are approve, edit, reject, answer/ },
    "a verb of another kind": { answer: { kind: "release" }, code: "invalid-decision", says: /release: the verbs are/ },
    "an engine's verb": { answer: { kind: "elapsed" }, code: "invalid-decision", says: /elapsed: the verbs are/ },
    "closed by a stranger": {
      answer: { kind: "closed", why: "cancelled" },
      code: "invalid-decision",
      says: /the verbs/,
    },
    "a verb from a prototype": { answer: { kind: "toString" }, code: "invalid-decision", says: /the verbs are/ },
    "a verb that is an object": { answer: { kind: {} }, code: "invalid-decision", says: /the verbs are/ },
    "an unknown field": {
      answer: { kind: "approve", force: true },
      code: "invalid-decision",
      says: /force: unknown option/,
    },
    "a reject without a reason": { answer: { kind: "reject" }, code: "invalid-decision", says: /needs a reason/ },
    "an author that is no text": {
      answer: { kind: "approve", by: 7 },
      code: "invalid-options",
      says: /by: must be a string/,
    },
    "an empty author": { answer: { kind: "approve", by: "" }, code: "invalid-options", says: /by: must not be empty/ },
    "a key that is no text": {
      answer: { kind: "approve", key: {} },
      code: "invalid-options",
      says: /key: must be a string/,
    },
    "a key with a lone surrogate": {
      answer: { kind: "approve", key: "\ud800" },
      code: "invalid-options",
      says: /surrogate/,
    },
    "another hash": {
      answer: { kind: "approve", hash: "0".repeat(64) },
      code: "ticket-hash-mismatch",
      says: /cannot be decided/,
    },
    "no hash": {
      answer: { kind: "approve", hash: undefined },
      code: "ticket-hash-mismatch",
      says: /cannot be decided/,
    },
  };
  for (const [what, { answer, code, says: text }] of Object.entries(wrong)) {
    test(`a decision that is or has ${what} is refused by name, and the ticket is still open`, async () => {
      const { story, run, ticket } = await aWaitingRun();
      await using _ = story;
      const before = await story.journal(run);
      const offered =
        typeof answer === "object" && answer !== null ? { hash: ticket.hash, ...(answer as object) } : answer;
      await expect(story.t.runtime.tickets.decide(ticket.id, offered as never)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(text),
      });
      expect(await story.journal(run)).toEqual(before);
      await expectUntouched(story, run);
    });
  }

  test("an unknown option of every verb is refused by name", async () => {
    const { story, run, ticket } = await aWaitingRun();
    await using _ = story;
    const bad = { by: "ana", until: "tomorrow" } as never;
    const verbs = [
      () => ticket.approve(bad),
      () => ticket.edit({ order: "1", cents: 1 }, bad),
      () => ticket.reject("no", bad),
      () => ticket.answer(1, bad),
      () => ticket.approve(null as never),
      () => ticket.reject("no", null as never),
    ];
    for (const verb of verbs) {
      await expect(verb()).rejects.toMatchObject({ code: "invalid-options" });
    }
    await expect(run.cancel({ why: "x" } as never)).rejects.toMatchObject({ code: "invalid-options" });
    await expect(run.pause({ why: "x" } as never)).rejects.toMatchObject({ code: "invalid-options" });
    await expectUntouched(story, run);
  });

  test("ids that do not fit are refused by name; ids of nobody are not found", async () => {
    const { story, run, ticket } = await aWaitingRun();
    await using _ = story;
    const { runtime } = story.t;
    const { hash } = ticket;
    for (const id of ["", "a\nb", "\ud800", "x".repeat(600), 7, null, undefined, {}]) {
      const bad = id as string;
      expect(() => runtime.runs.get(bad)).toThrow(expect.objectContaining({ code: "invalid-id" }));
      await expect(runtime.tickets.get(bad)).rejects.toMatchObject({ code: "invalid-id" });
      await expect(runtime.tickets.decide(bad, { kind: "approve", hash })).rejects.toMatchObject({
        code: "invalid-id",
      });
      if (id !== undefined) {
        await expect(runtime.tickets.list({ run: bad })).rejects.toMatchObject({ code: "invalid-id" });
        if (id !== null)
          await expect(story.userSays("x", { thread: bad })).rejects.toMatchObject({ code: "invalid-id" });
        await expect(story.userSays("x", { key: bad })).rejects.toMatchObject({ code: "invalid-id" });
      }
    }
    expect(await runtime.tickets.get("nobody")).toBeUndefined();
    expect(await runtime.tickets.list({ run: "nobody" })).toEqual([]);
    const nobody = runtime.runs.get("nobody");
    for (const act of [() => nobody.status(), () => nobody.result(), () => nobody.idle(), () => nobody.output()]) {
      await expect(act()).rejects.toMatchObject({ code: "run-not-found", details: { run: "nobody" } });
    }
    await expectUntouched(story, run);
  });

  test("a filter that does not fit is refused by name", async () => {
    const { story, run } = await aWaitingRun();
    await using _ = story;
    const filters = [
      { status: "maybe" },
      { kind: "poem" },
      { tool: "refund" },
      { limit: 0 },
      { limit: 1.5 },
      { color: 1 },
      null,
    ];
    for (const filter of filters) {
      await expect(story.t.runtime.tickets.list(filter as never)).rejects.toMatchObject({ code: "invalid-options" });
    }
    await expectUntouched(story, run);
  });
});
