/** What the scenarios of delegation.ts come to: uncut, and after an error of a tool's code. */
import type { Expected } from "../../../src/testing/crash-scenario.ts";
import type { ExpectedRows } from "./expected-rows.ts";

type Played = Expected["runs"][number];

const task = '{"task":"Do it."}';

/** A run that gives one task to the delegate of this name. */
function lead(first: string, delegate: string, said: string): Played {
  const transcript = [
    `user: ${first}`,
    `assistant: [${delegate} ${task}]`,
    `tool: ${delegate} = "${said}"`,
    "assistant: Done.",
  ];
  return { outcome: "completed", transcript };
}

const refunded = 'tool: refund = {"done":"1"}';
const failed = "tool: refund ! tool-failed";

function helper(result: string): Played {
  const transcript = ["user: Do it.", 'assistant: [refund {"order":"1"}]', result, "assistant: Helped."];
  return { outcome: "completed", transcript };
}

const effectOf = (key: string): string => `1.0 refund {"done":"1"} of ${key}`;

const both: Played = {
  outcome: "completed",
  transcript: [
    "user: Go.",
    `assistant: [helper ${task}] [helper ${task}]`,
    'tool: helper = "Helped."',
    'tool: helper = "Helped."',
    "assistant: Done.",
  ],
};

const three: readonly Played[] = [lead("Go.", "middle", "Done."), lead("Do it.", "helper", "Helped.")];

function cancelled(first: string, call: string, result: string): Played {
  return { outcome: "cancelled", transcript: [`user: ${first}`, `assistant: [${call}]`, `tool: ${result}`] };
}

export const delegationRows: ExpectedRows = {
  "a delegate": {
    uncut: {
      runs: [lead("Go.", "helper", "Helped."), helper(refunded)],
      effects: [effectOf("start.1.0")],
      unknown: [],
    },
    afterError: {
      "tool.execute refund 1.0": {
        runs: [lead("Go.", "helper", "Helped."), helper(failed)],
        effects: [],
        unknown: [],
      },
    },
  },
  "two delegates at once": {
    uncut: {
      runs: [both, helper(refunded), helper(refunded)],
      effects: [effectOf("start.1.0"), effectOf("start.1.1")],
      unknown: [],
    },
    afterError: {
      "tool.execute refund 1.0": {
        runs: [both, helper(failed), helper(refunded)],
        effects: [effectOf("start.1.1")],
        unknown: [],
      },
      "tool.execute refund 1.0 #2": {
        runs: [both, helper(refunded), helper(failed)],
        effects: [effectOf("start.1.0")],
        unknown: [],
      },
    },
  },
  "a delegate of a delegate asks": {
    uncut: { runs: [...three, helper(refunded)], effects: [effectOf("start.1.0.1.0")], unknown: [] },
    afterError: { "tool.execute refund 1.0": { runs: [...three, helper(failed)], effects: [], unknown: [] } },
  },
  "three levels are cancelled": {
    uncut: {
      runs: [
        cancelled("Go.", `middle ${task}`, "middle ! delegate-failed"),
        cancelled("Do it.", `helper ${task}`, "helper ! delegate-failed"),
        cancelled("Do it.", 'refund {"order":"1"}', "refund ! not-run"),
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "an ephemeral delegate": {
    uncut: { runs: [lead("Go.", "helper", "Helped.")], effects: [], unknown: [] },
    afterError: {},
  },
};
