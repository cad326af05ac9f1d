/** What the scenarios of output.ts come to: uncut, and where a check that throws has refused the answer. */
import type { Expected } from "../../../src/testing/crash-scenario.ts";
import type { ExpectedRows } from "./expected-rows.ts";

const fits = 'tool: holdfast_answer = "The answer fits the schema"';
const refused = "tool: holdfast_answer ! invalid-input";
const again = "Answer again, with JSON that fits and nothing else.";
const wrongType = `user: Your answer does not fit the schema: $.cents: Invalid input: expected number, received string. ${again}`;
const threw = `user: Your answer does not fit the schema: Checking it threw: The crash kit made output.check fail. ${again}`;

function called(cents: unknown): string {
  return `assistant: [holdfast_answer ${JSON.stringify({ cents })}]`;
}

function ends(transcript: readonly string[], effects: readonly string[], outcome = "completed"): Expected {
  return { runs: [{ outcome, transcript: ["user: Go.", ...transcript] }], effects, unknown: [] };
}

function told(cents: number): readonly string[] {
  return ['end crm {"ended":"completed"} of start', `end crm {"output":{"cents":${cents}}} of start`];
}

const repaired = ends([called("five"), refused, called(5), fits], told(5));
const both = 'assistant: [holdfast_answer {"cents":1}] [refund {"order":"1"}]';

export const outputRows: ExpectedRows = {
  "an answer by tool, repaired and told": {
    uncut: repaired,
    afterError: {
      "output.check": repaired,
      "output.check #2": ends([called("five"), refused, called(5), refused, called(6), fits], told(6)),
    },
  },
  "an answer by tool, put off beside a call": {
    uncut: ends(
      [both, "tool: holdfast_answer ! not-run", 'tool: refund = {"done":"1"}', called(5), fits],
      ['1.1 refund {"done":"1"} of start'],
    ),
    afterError: {
      "tool.execute refund 1.1": ends(
        [both, "tool: holdfast_answer ! not-run", "tool: refund ! tool-failed", called(5), fits],
        [],
      ),
    },
  },
  "an answer as text, repaired": {
    uncut: ends(['assistant: {"cents":"five"}', wrongType, 'assistant: {"cents":5}'], []),
    afterError: {
      "output.check": ends(['assistant: {"cents":"five"}', threw, 'assistant: {"cents":5}'], []),
      "output.check #2": ends(
        ['assistant: {"cents":"five"}', wrongType, 'assistant: {"cents":5}', threw, 'assistant: {"cents":6}'],
        [],
      ),
    },
  },
  "answers that never fit": {
    uncut: ends(
      [called("five"), refused, "assistant: Five."],
      ['end crm {"ended":"failed"} of start'],
      "failed output-invalid",
    ),
    afterError: {},
  },
};
