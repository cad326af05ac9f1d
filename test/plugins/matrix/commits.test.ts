/** Before the engine waits for a hook, it has committed what it has: a process that dies then loses no answer. */
import { expect, test } from "vitest";
import type { Entry } from "../../../src/domain/entry.ts";
import { type Phase, phases } from "../../../src/domain/phase.ts";
import { turn } from "../../../src/testing/test-process.ts";
import { begin, hookedIn, type World } from "./world.ts";

/** The newest entry in the store when a hook of the phase has been waited for a little. */
const newest: Readonly<Record<Exclude<Phase, "model-delta">, string>> = {
  "before-run": "message-appended created",
  "before-step": "message-appended created",
  "context-ready": "step-started 1",
  "before-model": "step-started 1",
  "output-gate": "effect-settled done: nothing",
  "after-model": "message-appended assistant",
  "tool-gate": "message-appended assistant",
  "before-tool": "call-gated allow",
  "after-tool": "effect-settled done: the tool's own answer",
  "after-step": "step-ended 1",
  "before-end": "step-ended 2",
  "after-run": "run-ended completed",
  "on-decision": "run-resumed",
  "on-cancel": "run-resumed",
};

const waitedFor = phases.filter((phase) => phase !== "model-delta");

test.each(waitedFor)("in %s", async (phase) => {
  let found: Entry | undefined;
  const world: { current?: World } = {};
  const hook = async (): Promise<void> => {
    if (found) return;
    for (let turns = 0; turns < 10; turns += 1) await turn();
    found = (await world.current?.journal())?.at(-1);
  };
  world.current = await begin(phase, hookedIn(phase, hook));
  await world.current.seeThrough();
  expect(found && inWords(found)).toBe(newest[phase]);
});

function inWords(entry: Entry): string {
  switch (entry.type) {
    case "message-appended":
      return `${entry.type} ${entry.body.kind === "here" ? entry.body.message.role : entry.body.kind}`;
    case "step-started":
    case "step-ended":
      return `${entry.type} ${entry.step}`;
    case "effect-settled":
      return `${entry.type} ${entry.result.kind}: ${entry.answered?.kind === "value" ? entry.answered.value : "nothing"}`;
    case "call-gated":
      return `${entry.type} ${entry.verdict.kind}`;
    case "run-ended":
      return `${entry.type} ${entry.outcome.kind}`;
    default:
      return entry.type;
  }
}
