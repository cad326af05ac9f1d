import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../src/domain/errors.ts";
import type { ThreadId } from "../../src/domain/ids.ts";
import type { ModelDescription } from "../../src/domain/model.ts";
import type { Model, ModelPart } from "../../src/ports/provider.ts";
import { pool } from "../../src/providers/pool/pool.ts";
import { rank } from "../../src/providers/pool/rank.ts";
import { scripted } from "../../src/providers/scripted.ts";

function named(model: string, said: Partial<ModelDescription> = {}): Model {
  return { ...scripted([]), description: { provider: "vendor", model, ...said } };
}

describe("what a pool says of itself", () => {
  test("it promises what all members can do, and the highest of each price", () => {
    const { description } = pool([
      named("a", {
        contextWindow: 200_000,
        maxOutputTokens: 8_000,
        structuredOutput: true,
        accepts: ["text", "image", "file"],
        prices: { inputPerMillion: 3, outputPerMillion: 10, cacheReadPerMillion: 0.3 },
      }),
      named("b", {
        contextWindow: 128_000,
        structuredOutput: true,
        toolCalls: false,
        accepts: ["image", "text"],
        prices: { inputPerMillion: 1, outputPerMillion: 15 },
      }),
    ]);
    expect(description).toEqual({
      provider: "pool",
      model: "vendor/a | vendor/b",
      contextWindow: 128_000,
      maxOutputTokens: 8_000,
      structuredOutput: true,
      toolCalls: false,
      accepts: ["text", "image"],
      prices: { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 1 },
    });
  });

  test("what one member does not say is not promised: no structured output, no prices; what the others read counts", () => {
    const prices = { inputPerMillion: 1, outputPerMillion: 1 };
    const { description } = pool([
      named("a", { structuredOutput: true, accepts: ["text", "image"], prices }),
      named("b"),
    ]);
    expect(description).toEqual({ provider: "pool", model: "vendor/a | vendor/b", accepts: ["text", "image"] });
  });
});

describe("where a thread is at home", () => {
  const members = [
    { key: "a", weight: 1 },
    { key: "b", weight: 3 },
    { key: "c", weight: 0 },
    { key: "d", weight: 0 },
  ];
  const threads = Array.from({ length: 4_000 }, (_, index) => `thread-${index}`);
  const homesOf = (list: typeof members): string[] => threads.map((thread) => rank(list, thread)[0]?.key ?? "?");

  test("R1: always the same order, for failover last and as given", () => {
    const order = rank(members, "thread-1").map(({ key }) => key);
    expect(rank([...members].reverse().reverse(), "thread-1").map(({ key }) => key)).toEqual(order);
    expect(order.slice(2)).toEqual(["c", "d"]);
    // Written down: a change would move every thread of everybody at the next deploy.
    expect(homesOf(members).slice(0, 12).join("")).toMatchInlineSnapshot(`"aaababbabbbb"`);
  });

  test("R2: spread by weight, and a new member moves only the threads that it gains", () => {
    const homes = homesOf(members);
    const share = homes.filter((home) => home === "b").length / threads.length;
    expect(share).toBeGreaterThan(0.72);
    expect(share).toBeLessThan(0.78);
    const after = homesOf([...members, { key: "e", weight: 1 }]);
    expect(after.filter((home, index) => home !== homes[index] && home !== "e")).toEqual([]);
    expect(after.filter((home) => home === "e").length).toBeGreaterThan(threads.length / 7);
  });
});

test("one model may be there twice, behind two keys", () => {
  const { health } = pool([named("a"), named("a")]);
  expect(health()).toEqual([
    { provider: "vendor", model: "a", state: "closed", readyInMs: 0 },
    { provider: "vendor", model: "a", state: "closed", readyInMs: 0 },
  ]);
});

test("a pool may be a member of a pool; the model that answered is named", async () => {
  const outer = pool([pool([scripted(["hi"], { name: "inner" })])]);
  const parts = await all(outer);
  expect(parts.at(-1)).toMatchObject({ type: "finish", answeredBy: { provider: "scripted", model: "inner" } });
});

async function all(model: Model): Promise<ModelPart[]> {
  const request = {
    agent: "a",
    thread: "t" as ThreadId,
    step: 1,
    attempt: 1,
    instructions: "",
    messages: [],
    tools: [],
  };
  const parts: ModelPart[] = [];
  for await (const part of model.call(request, new AbortController().signal)) parts.push(part);
  return parts;
}

test("when nobody answers, the error names every member and why", async () => {
  const down = scripted([{ error: "model-overloaded", message: "529" }], { name: "down" });
  const slow = scripted([{ error: "model-timeout", message: "no word" }], { name: "slow" });
  const both = pool([down, { model: slow, failoverOnly: true }]);
  await expect(all(both)).rejects.toMatchObject({
    code: "model-overloaded",
    message:
      "No member of the pool answered: scripted/down (model-overloaded: 529); scripted/slow (model-timeout: no word)",
  });
});

test("while all rest, the refusal asks for the time until the first one is ready", async () => {
  let now = 0;
  const limited = scripted([{ error: "model-rate-limited", retryAfterMs: 5_000 }]);
  const one = pool([limited], { clock: { monotonic: () => now } });
  await expect(all(one)).rejects.toMatchObject({ code: "model-rate-limited", details: { retryAfterMs: 5_000 } });
  now = 2_000;
  await expect(all(one)).rejects.toMatchObject({
    code: "model-overloaded",
    message: "No member of the pool answered: scripted/scripted (open, asked again in 3000 ms)",
    details: { retryAfterMs: 3_000 },
  });
});

test("the clock is the process's unless said", async () => {
  const limited = scripted([{ error: "model-rate-limited", retryAfterMs: 600_000 }]);
  const one = pool([limited]);
  await expect(all(one)).rejects.toThrow();
  expect(one.health()[0]?.state).toBe("open");
  expect(one.health()[0]?.readyInMs).toBeLessThanOrEqual(600_000);
});

// Closed: a new code of models has to say here whether it is a bad day.
const modelCodes: Record<Extract<ErrorCode, `model-${string}`>, "a bad day" | "no bad day"> = {
  "model-failed": "a bad day",
  "model-overloaded": "a bad day",
  "model-rate-limited": "a bad day",
  "model-timeout": "a bad day",
  "model-unreachable": "a bad day",
  "model-malformed": "a bad day",
  "model-interrupted": "a bad day",
  "model-truncated": "a bad day",
  "model-empty": "a bad day",
  "model-refused": "no bad day",
  "model-unauthorized": "no bad day",
  "model-not-found": "no bad day",
  "model-context-overflow": "no bad day",
  "model-content-filtered": "no bad day",
  "model-unresolved": "no bad day",
};

test.each(Object.entries(modelCodes))("%s is %s", async (code, what) => {
  const fails = scripted([{ error: code as ErrorCode }], { name: "fails" });
  const two = pool([fails, { model: scripted(["hi"]), failoverOnly: true }], { breaker: { failures: 1 } });
  if (what === "a bad day") expect((await all(two)).at(-1)).toMatchObject({ answeredBy: { model: "scripted" } });
  else await expect(all(two)).rejects.toMatchObject({ code });
  expect(two.health()[0]?.state).toBe(what === "a bad day" ? "open" : "closed");
});

describe("bad input", () => {
  const model = scripted([]);
  const refused = (members: unknown, options?: unknown): string => {
    try {
      pool(members as never, options as never);
    } catch (cause) {
      expect(cause).toMatchObject({ code: "invalid-options" });
      return (cause as Error).message;
    }
    return "taken";
  };

  test("every problem is named at once", () => {
    expect(
      refused([{ model: {}, weight: 0 }, { model, failoverOnly: true, weight: 2 }, "gpt", { model, wait: 1 }], {
        breaker: { failures: 0, restMs: -1, probeMs: 0.5, open: 1 },
        clock: {},
        name: "x",
      }),
    ).toMatchInlineSnapshot(
      `"The pool cannot be made: name: unknown option; known are breaker, clock; clock: must have monotonic; breaker.open: unknown option; known are failures, restMs, probeMs; breaker.failures: must be a whole number from 1 to 1000; breaker.restMs: must be a whole number from 1 to 86400000; breaker.probeMs: must be a whole number from 1 to 86400000; members[0].model: must be a model that can be called; members[0].weight: must be a number above 0 and up to 1000000; members[1].weight: a member for failover only has no share; leave out one of the two; members[2].options must be an object, got string; members[2].model: must be a model that can be called; members[3].wait: unknown option; known are model, weight, failoverOnly"`,
    );
  });

  test("nobody, and nobody but failover", () => {
    expect(refused([])).toMatch("members: must be a list of 1 to 100 models");
    expect(refused(undefined)).toMatch("members: must be a list");
    expect(refused([{ model, failoverOnly: true }])).toMatch("at least one must be a home");
    expect(refused([model], null)).toMatch("options must be an object");
    expect(refused([model])).toBe("taken");
  });

  test("a member that answers nonsense is passed through: the engine names it", async () => {
    const nonsense: Model = {
      description: { provider: "v", model: "m" },
      async *call() {
        yield null as never;
      },
    };
    expect(await all(pool([nonsense]))).toEqual([null]);
    const thrower: Model = {
      ...nonsense,
      call: () => {
        throw new Error("at once");
      },
    };
    await expect(all(pool([thrower]))).rejects.toMatchObject({ code: "model-failed" });
  });
});
