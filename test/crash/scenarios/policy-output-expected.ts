/** What the scenarios of policy-output.ts come to. A hook that throws is judged by the rule of its phase. */
import type { ExpectedRows } from "./expected-rows.ts";

const repair =
  "user: Your answer does not fit the schema: It is not JSON: Unexpected token 'o'. Answer again, with JSON that fits and nothing else.";

export const policyOutputRows: ExpectedRows = {
  "an answer that its policy changes, after one that did not fit": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            "assistant: [The answer is withheld: it does not fit]",
            repair,
            'assistant: {"note":"told"}',
          ],
        },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "an answer that its policy denies": {
    uncut: {
      runs: [{ outcome: "blocked", transcript: ["user: Go.", "assistant: [The answer is withheld: pii: names]"] }],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "an answer that a person lets out": {
    uncut: {
      runs: [{ outcome: "completed", transcript: ["user: Go.", 'assistant: {"note":"secret"}'] }],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
};
