/** What the scenarios of decided.ts come to: runs that wait for a person; uncut (and so after every cut), and where a throw of user code is an answer of its own. */
import type { ExpectedRows } from "./expected.ts";

export const decidedRows: ExpectedRows = {
  "waiting and approved": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "assistant: Refunded.",
          ],
        },
      ],
      effects: ['1.0 refund {"done":"1"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute refund 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Refunded.",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "edited input": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"edited"}',
            "assistant: Charged.",
          ],
        },
      ],
      effects: ['1.0 charge {"done":"edited"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute charge 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              'tool: charge = {"done":"edited"}',
              "assistant: Charged.",
            ],
          },
        ],
        effects: [],
        unknown: ["1.0"],
      },
    },
  },
  "mixed batch": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}] [charge {"order":"2"}] [mail {"order":"3"}]',
            'tool: refund = {"done":"1"}',
            "tool: charge ! rejected",
            'tool: mail = {"done":"by hand"}',
            "assistant: Three answers.",
          ],
        },
      ],
      effects: ['1.0 refund {"done":"1"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute refund 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}] [charge {"order":"2"}] [mail {"order":"3"}]',
              "tool: refund ! tool-failed",
              "tool: charge ! rejected",
              'tool: mail = {"done":"by hand"}',
              "assistant: Three answers.",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "frontend tool answered": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [pick {"order":"1"}]',
            'tool: pick = {"picked":"blue"}',
            "assistant: Picked.",
          ],
        },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "decision passed to the tool": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [sign {"order":"1"}]',
            'tool: sign = {"by":"ana","decision":{"kind":"answer","value":"A. Lovelace"}}',
            "assistant: Signed.",
          ],
        },
      ],
      effects: ['1.0 sign {"done":"1"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute sign 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [sign {"order":"1"}]',
              "tool: sign ! tool-failed",
              "assistant: Signed.",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "pause and release": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "assistant: Refunded.",
          ],
        },
      ],
      effects: ['1.0 refund {"done":"1"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute refund 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Refunded.",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "input while running": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "user: And one more.",
            "assistant: Both.",
          ],
        },
      ],
      effects: ['1.0 refund {"done":"1"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute refund 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Both.",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
};
