/** What the scenarios of threads-successor.ts come to: uncut, and where a throw of user code is an answer of its own. */
import type { ExpectedRows } from "./expected-rows.ts";

export const successorRows: ExpectedRows = {
  "steps spent with an unread input": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: And this.",
            "user: And that.",
            "assistant: Mine. (Go. > [refund] > refund ok > And this. > And that.)",
          ],
        },
        {
          outcome: "stopped steps",
          transcript: ["user: Go.", 'assistant: [refund {"order":"1"}]', 'tool: refund = {"done":"1"}'],
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
              "user: And that.",
              "assistant: Mine. (Go. > [refund] > refund tool-failed > And this. > Mine. (Go. > [refund] > refund tool-failed > And this.) > And that.)",
            ],
          },
          {
            outcome: "completed",
            transcript: ["user: And this.", "assistant: Mine. (Go. > [refund] > refund tool-failed > And this.)"],
          },
          {
            outcome: "stopped steps",
            transcript: ["user: Go.", 'assistant: [refund {"order":"1"}]', "tool: refund ! tool-failed"],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "out of time with an unread input": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: ["user: And this.", "assistant: Mine. (Go. > [refund] > refund not-run > And this.)"],
        },
        {
          outcome: "timed-out",
          transcript: ["user: Go.", 'assistant: [refund {"order":"1"}]', "tool: refund ! not-run"],
        },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "cancelled with an unread input, and steered after that": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: ["user: And that.", "assistant: Mine. (Go. > [refund] > refund aborted > And that.)"],
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
              "user: And that.",
              "assistant: Mine. (Go. > [refund] > refund tool-failed > Done. (Go. > [refund] > refund tool-failed) > And this. > Mine. (Go. > [refund] > refund tool-failed > Done. (Go. > [refund] > refund tool-failed) > And this.) > And that.)",
            ],
          },
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
};
