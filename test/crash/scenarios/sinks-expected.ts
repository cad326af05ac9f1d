/** What the scenarios of sinks.ts come to: uncut, and nothing else, for what a sink throws is only a later delivery. */
import type { ExpectedRows } from "./expected-rows.ts";

export const sinkRows: ExpectedRows = {
  "a dead letter is told again": {
    uncut: {
      runs: [{ outcome: "completed", transcript: ["user: Go.", "assistant: Done."] }],
      effects: ['end crm {"ended":"completed"} of start', "mend mend null of start"],
      unknown: [],
    },
    afterError: {},
  },
  "two sinks are told": {
    uncut: {
      runs: [{ outcome: "completed", transcript: ["user: Go.", 'assistant: {"resolved":true}'] }],
      effects: [
        'end crm {"ended":"completed"} of start',
        'end crm {"output":{"resolved":true}} of start',
        'end log {"ended":"completed"} of start',
        'end log {"output":{"resolved":true}} of start',
      ],
      unknown: [],
    },
    afterError: {},
  },
  "a sink is told of a cancel": {
    uncut: {
      runs: [
        {
          outcome: "cancelled",
          transcript: ["user: Go.", 'assistant: [refund {"order":"1"}]', "tool: refund ! not-run"],
        },
      ],
      effects: ['end crm {"ended":"cancelled"} of start'],
      unknown: [],
    },
    afterError: {},
  },
};
