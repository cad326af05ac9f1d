/** What the scenarios of threads-busy.ts and threads-kept.ts come to: uncut, and where a throw of user code is an answer of its own. */
import type { ExpectedRows } from "./expected-rows.ts";

export const threadRows: ExpectedRows = {
  "queued while a tool is in flight": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: And this.",
            "assistant: Mine. (Go. > [refund] > refund ok > Done. (Go. > [refund] > refund ok) > And this.)",
          ],
        },
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "assistant: Done. (Go. > [refund] > refund ok)",
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
              "user: And this.",
              "assistant: Mine. (Go. > [refund] > refund tool-failed > Done. (Go. > [refund] > refund tool-failed) > And this.)",
            ],
          },
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Done. (Go. > [refund] > refund tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "steered while a tool is in flight": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "user: And this.",
            "assistant: Done. (Go. > [refund] > refund ok > And this.)",
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
              "user: And this.",
              "assistant: Mine. (Go. > [refund] > refund tool-failed > Done. (Go. > [refund] > refund tool-failed) > And this.)",
            ],
          },
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Done. (Go. > [refund] > refund tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "steered while waiting": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "user: And this.",
            "assistant: Done. (Go. > [refund] > refund ok > And this.)",
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
              "user: And this.",
              "assistant: Done. (Go. > [refund] > refund tool-failed > And this.)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "a question answered by the next message": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [pick {"order":"1"}]',
            'tool: pick = "And this."',
            "assistant: Done. (Go. > [pick] > pick ok)",
          ],
        },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "superseded while waiting": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: ["user: And this.", "assistant: Mine. (Go. > [refund] > refund not-run > And this.)"],
        },
        {
          outcome: "cancelled",
          transcript: ["user: Go.", 'assistant: [refund {"order":"1"}]', "tool: refund ! not-run"],
        },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "interrupted while a tool is in flight": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: ["user: And this.", "assistant: Mine. (Go. > [refund] > refund aborted > And this.)"],
        },
        {
          outcome: "cancelled",
          transcript: ["user: Go.", 'assistant: [refund {"order":"1"}]', "tool: refund ! aborted"],
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
              "user: And this.",
              "assistant: Mine. (Go. > [refund] > refund tool-failed > Done. (Go. > [refund] > refund tool-failed) > And this.)",
            ],
          },
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Done. (Go. > [refund] > refund tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "forked at its first step": {
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
      effects: ['1.0 refund {"done":"1"} of fork', '1.0 refund {"done":"1"} of start'],
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
              'tool: refund = {"done":"1"}',
              "assistant: Refunded. (Go. > [refund] > refund ok)",
            ],
          },
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
        effects: ['1.0 refund {"done":"1"} of fork'],
        unknown: [],
      },
      "tool.execute refund 1.0 #2": {
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
    },
  },
  "a thread deleted beside another": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: ["user: Stay.", "assistant: Mine. (Stay.)"],
        },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "a thread created with history": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: ["user: Go.", "assistant: Mine. (Hello. > Is anybody there? > Go.)"],
        },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
};
