/** What the scenarios of plain.ts come to (runs that nobody outside touches): uncut, and where a throw of user code is an answer of its own. */
import type { ExpectedRows } from "./expected-rows.ts";

export const plainRows: ExpectedRows = {
  "no tool": {
    uncut: {
      runs: [{ outcome: "completed", transcript: ["user: Go.", "assistant: Hello there."] }],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "one tool": {
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
  "a large result": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            "tool: refund = content of 602 bytes",
            "assistant: Kept. (Go. > [refund] > refund ok)",
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
              "assistant: Kept. (Go. > [refund] > refund tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "a reply that breaks off goes on": {
    uncut: {
      runs: [{ outcome: "completed", transcript: ["user: Go.", "assistant: Hello there."] }],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "a reply that breaks off after a whole call": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: At once. [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "assistant: Refunded. (Go. > At once. [refund] > refund ok)",
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
              'assistant: At once. [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Refunded. (Go. > At once. [refund] > refund tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "parallel tools": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [look {"order":"1"}] [refund {"order":"2"}] [charge {"order":"3"}]',
            'tool: look = {"done":"1"}',
            'tool: refund = {"done":"2"}',
            'tool: charge = {"done":"3"}',
            "assistant: All three. (Go. > [look] [refund] [charge] > look ok > refund ok > charge ok)",
          ],
        },
      ],
      effects: ['1.1 refund {"done":"2"} of start', '1.2 charge {"done":"3"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute look 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [look {"order":"1"}] [refund {"order":"2"}] [charge {"order":"3"}]',
              "tool: look ! tool-failed",
              'tool: refund = {"done":"2"}',
              'tool: charge = {"done":"3"}',
              "assistant: All three. (Go. > [look] [refund] [charge] > look tool-failed > refund ok > charge ok)",
            ],
          },
        ],
        effects: ['1.1 refund {"done":"2"} of start', '1.2 charge {"done":"3"} of start'],
        unknown: [],
      },
      "tool.execute refund 1.1": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [look {"order":"1"}] [refund {"order":"2"}] [charge {"order":"3"}]',
              'tool: look = {"done":"1"}',
              "tool: refund ! tool-failed",
              'tool: charge = {"done":"3"}',
              "assistant: All three. (Go. > [look] [refund] [charge] > look ok > refund tool-failed > charge ok)",
            ],
          },
        ],
        effects: ['1.2 charge {"done":"3"} of start'],
        unknown: [],
      },
      "tool.execute charge 1.2": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [look {"order":"1"}] [refund {"order":"2"}] [charge {"order":"3"}]',
              'tool: look = {"done":"1"}',
              'tool: refund = {"done":"2"}',
              'tool: charge = {"done":"3"}',
              "assistant: All three. (Go. > [look] [refund] [charge] > look ok > refund ok > charge ok)",
            ],
          },
        ],
        effects: ['1.1 refund {"done":"2"} of start'],
        unknown: ["1.2"],
      },
    },
  },
  pure: {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: ["user: Go.", 'assistant: [look {"order":"1"}]', 'tool: look = {"done":"1"}', "assistant: Seen."],
        },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {
      "tool.execute look 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [look {"order":"1"}]',
              "tool: look ! tool-failed",
              "assistant: Seen.",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  idempotent: {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "assistant: Twice, by two keys. (Go. > [refund] > refund ok > [refund] > refund ok)",
          ],
        },
      ],
      effects: ['1.0 refund {"done":"1"} of start', '2.0 refund {"done":"1"} of start'],
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
              'assistant: [refund {"order":"1"}]',
              'tool: refund = {"done":"1"}',
              "assistant: Twice, by two keys. (Go. > [refund] > refund tool-failed > [refund] > refund ok)",
            ],
          },
        ],
        effects: ['2.0 refund {"done":"1"} of start'],
        unknown: [],
      },
      "tool.execute refund 2.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}]',
              'tool: refund = {"done":"1"}',
              'assistant: [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Twice, by two keys. (Go. > [refund] > refund ok > [refund] > refund tool-failed)",
            ],
          },
        ],
        effects: ['1.0 refund {"done":"1"} of start'],
        unknown: [],
      },
    },
  },
  "a check that waits": {
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
      "tool.judge refund": {
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
  "idempotent start": {
    uncut: {
      runs: [{ outcome: "completed", transcript: ["user: Go.", "assistant: Once."] }],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "queued runs": {
    uncut: {
      runs: [
        { outcome: "completed", transcript: ["user: Go.", "assistant: Mine. (Go.)"] },
        { outcome: "completed", transcript: ["user: Go.", "assistant: Mine. (Go. > Mine. (Go.) > Go.)"] },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
};
