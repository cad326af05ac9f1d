/** What the scenarios of summarised.ts come to: a summary changes nothing of what is said and done. */
import type { Expected } from "../../../src/testing/crash-scenario.ts";
import type { ExpectedRows } from "./expected-rows.ts";

const tools = ["look", "refund", "look"];

/** With the call of that step failing, if any does. */
function comesTo(failing = 0): Expected {
  const steps = tools.flatMap((tool, index) => [
    `assistant: [${tool} {"order":"1"}]`,
    `tool: ${tool} ${index + 1 === failing ? "! tool-failed" : '= {"done":"1"}'}`,
  ]);
  return {
    runs: [{ outcome: "completed", transcript: ["user: Go.", ...steps, "assistant: Seen."] }],
    effects: failing === 2 ? [] : ['2.0 refund {"done":"1"} of start'],
    unknown: [],
  };
}

export const summarisedRows: ExpectedRows = {
  "a summary beside the steps": {
    uncut: comesTo(),
    afterError: {
      "tool.execute look 1.0": comesTo(1),
      "tool.execute refund 2.0": comesTo(2),
      "tool.execute look 3.0": comesTo(3),
    },
  },
};
