/** What the scenarios of decided.ts come to (runs that wait for a person): uncut, and where a throw of user code is an answer of its own. */
import type { ExpectedRows } from "./expected-rows.ts";

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
            "assistant: Refunded. (Go. > [refund] > refund ok)",
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
              "assistant: Refunded. (Go. > [refund] > refund tool-failed)",
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
            "assistant: Charged. (Go. > [charge] > charge ok)",
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
              "assistant: Charged. (Go. > [charge] > charge ok)",
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
            "assistant: Three answers. (Go. > [refund] [charge] [mail] > refund ok > charge rejected > mail ok)",
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
              "assistant: Three answers. (Go. > [refund] [charge] [mail] > refund tool-failed > charge rejected > mail ok)",
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
            "assistant: Picked. (Go. > [pick] > pick ok)",
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
            "assistant: Signed. (Go. > [sign] > sign ok)",
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
              "assistant: Signed. (Go. > [sign] > sign tool-failed)",
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
            "assistant: Refunded. (Go. > [refund] > refund ok)",
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
              "assistant: Refunded. (Go. > [refund] > refund tool-failed)",
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
            "assistant: Both. (Go. > [refund] > refund ok > And one more.)",
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
              "assistant: Both. (Go. > [refund] > refund tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
};
