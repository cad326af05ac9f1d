import { expect, test } from "vitest";
import type { ThreadId } from "../../src/domain/ids.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { createSteps } from "../../src/providers/pool/steps.ts";

const members = ["a", "b", "c"].map((key) => ({ key }));

function requestOf(thread: string, attempt: number, step = 1): ModelRequest {
  return { agent: "x", thread: thread as ThreadId, step, attempt, instructions: "", messages: [], tools: [] };
}

function orderIn(steps: ReturnType<typeof createSteps>, request: ModelRequest): string {
  return steps
    .order(members, request)
    .map(({ key }) => key)
    .join("");
}

test("S1 who has not failed the step is asked first, then who failed longest ago; other steps know nothing of it", () => {
  const steps = createSteps();
  steps.failed(requestOf("t", 1), "a");
  expect(orderIn(steps, requestOf("t", 2))).toBe("bca");
  steps.failed(requestOf("t", 2), "b");
  steps.failed(requestOf("t", 3), "c");
  expect(orderIn(steps, requestOf("t", 4))).toBe("abc");
  steps.failed(requestOf("t", 4), "a");
  expect(orderIn(steps, requestOf("t", 5))).toBe("bca");
  for (const other of [requestOf("t", 2, 2), requestOf("u", 2), { ...requestOf("t", 2), agent: "y" }]) {
    expect(orderIn(steps, other)).toBe("abc");
  }
});

test("S3 no more steps are known than may be; the one heard of longest ago is forgotten", () => {
  const steps = createSteps(2);
  steps.failed(requestOf("1", 1), "a");
  steps.failed(requestOf("2", 1), "a");
  steps.failed(requestOf("1", 2), "b");
  steps.failed(requestOf("3", 1), "a");
  expect(["1", "2", "3"].map((thread) => orderIn(steps, requestOf(thread, 2)))).toEqual(["cab", "abc", "bca"]);
});
