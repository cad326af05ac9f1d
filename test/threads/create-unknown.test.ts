import { expect, test } from "vitest";
import { HoldfastError } from "../../src/domain/errors.ts";
import { agent } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

const quiet = agent({ name: "quiet", model: scripted([]), instructions: "-" });

/** The first createThread is written, and its answer is lost. */
function losingTheAnswer(): Intercept {
  let lost = false;
  return async (call, proceed) => {
    const answer = await proceed();
    if (call.method !== "createThread" || lost) return answer;
    lost = true;
    throw new HoldfastError("commit-unknown", "the answer was lost");
  };
}

const history = [{ role: "user", parts: [{ type: "text", text: "before" }] }] as const;

test.each([{ title: "a" }, { messages: history }])(
  "a thread whose creation was not answered is found again: %o",
  async (options) => {
    await using t = await testRuntime({ agents: [quiet], intercept: losingTheAnswer() });
    expect(await t.runtime.threads.create({ id: "t-1", ...options })).toMatchObject({ id: "t-1" });
    await expect(t.runtime.threads.create({ id: "t-1", ...options })).rejects.toMatchObject({ code: "thread-exists" });
  },
);
