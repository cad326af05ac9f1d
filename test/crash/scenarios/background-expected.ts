/** What the scenarios of background.ts come to. */
import type { Expected } from "../../../src/testing/crash-scenario.ts";
import type { ExpectedRows } from "./expected-rows.ts";

/** With the refund failing or not. */
function task(result: string): Expected {
  const told = { background: "helper", task: "this run.1.0.run", status: "completed", result: "Refunded." };
  return {
    runs: [
      {
        outcome: "completed",
        transcript: [
          "user: Go.",
          'assistant: [helper {"task":"Refund it."}]',
          'tool: helper = {"task":"this run.1.0.run","status":"running"}',
          "assistant: I wait.",
          `user: ${JSON.stringify(told)}`,
          "assistant: Done.",
        ],
      },
      {
        outcome: "completed",
        transcript: [
          "user: Refund it.",
          'assistant: [refund {"order":"1"}]',
          `tool: refund ${result}`,
          "assistant: Refunded.",
        ],
      },
    ],
    effects: result.startsWith("!") ? [] : ['1.0 refund {"done":"1"} of start.1.0'],
    unknown: [],
  };
}

function handed(result: string): Expected {
  return {
    runs: [
      {
        outcome: "completed",
        transcript: [
          "user: Go.",
          "assistant: [transfer_to_payer {}]",
          'tool: transfer_to_payer = {"handedTo":"payer"}',
          'assistant: [refund {"order":"1"}]',
          `tool: refund ${result}`,
          "assistant: [hand_back {}]",
          'tool: hand_back = {"handedTo":"clerk"}',
          "assistant: Done.",
        ],
      },
    ],
    effects: result.startsWith("!") ? [] : ['2.0 refund {"done":"1"} of start'],
    unknown: [],
  };
}

const done = '= {"done":"1"}';
const failed = "! tool-failed";

export const besideRows: ExpectedRows = {
  "a background task": { uncut: task(done), afterError: { "tool.execute refund 1.0": task(failed) } },
  "handed over and back": { uncut: handed(done), afterError: { "tool.execute refund 2.0": handed(failed) } },
};
