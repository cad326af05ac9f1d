/** What the scenarios of ended.ts come to (runs that end otherwise): uncut, and where a throw of user code is an answer of its own. */
import type { ExpectedRows } from "./expected-rows.ts";

export const endedRows: ExpectedRows = {
  "cancelled while a tool is in flight, idempotent": {
    uncut: {
      runs: [
        {
          outcome: "cancelled",
          transcript: ["user: Go.", 'assistant: [charge {"order":"1"}]', "tool: charge ! aborted"],
        },
      ],
      effects: ['1.0 charge {"done":"1"} of start'],
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
              "tool: charge ! tool-failed",
              "assistant: Charged.",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "cancelled while a tool is in flight, once": {
    uncut: {
      runs: [
        {
          outcome: "cancelled",
          transcript: ["user: Go.", 'assistant: [charge {"order":"1"}]', "tool: charge ! outcome-unknown"],
        },
      ],
      effects: ['1.0 charge {"done":"1"} of start'],
      unknown: ["1.0"],
    },
    afterError: {
      "tool.execute charge 1.0": {
        runs: [
          {
            outcome: "cancelled",
            transcript: ["user: Go.", 'assistant: [charge {"order":"1"}]', "tool: charge ! outcome-unknown"],
          },
        ],
        effects: [],
        unknown: ["1.0"],
      },
    },
  },
  "cancelled while waiting": {
    uncut: {
      runs: [
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
  "cancelled while paused": {
    uncut: {
      runs: [
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
  "model error and retry": {
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
  "model refuses": {
    uncut: { runs: [{ outcome: "failed model-refused", transcript: ["user: Go."] }], effects: [], unknown: [] },
    afterError: {},
  },
  "deadline while waiting": {
    uncut: {
      runs: [
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
  "deadline while a tool is in flight": {
    uncut: {
      runs: [
        {
          outcome: "timed-out",
          transcript: ["user: Go.", 'assistant: [charge {"order":"1"}]', "tool: charge ! aborted"],
        },
      ],
      effects: ['1.0 charge {"done":"1"} of start'],
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
              "tool: charge ! tool-failed",
              "assistant: Charged.",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
};
