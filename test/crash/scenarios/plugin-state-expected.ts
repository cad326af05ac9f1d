/**
 * What the scenarios of plugin-state.ts (plugins and tools that write state) come to: uncut, and where a throw is an
 * answer of its own. That of a hook is judged by the rule of its phase.
 */
import type { ExpectedRow, ExpectedRows } from "./expected-rows.ts";

const everywhere = [
  "count = 14",
  'trail = ["0 before-run","1 after-model","1 after-step","1 after-tool 1.0","1 before-model","1 before-step","1 before-tool 1.0","1 context-ready","2 after-model","2 after-step","2 before-end","2 before-model","2 before-step","2 context-ready"]',
  "visits = 14",
];

/** However the hooks answer. */
const everyPhase: ExpectedRow = {
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
        state: everywhere,
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
          state: everywhere,
        },
      ],
      effects: [],
      unknown: [],
    },
  },
};

export const pluginStateRows: ExpectedRows = {
  "plugins write at once in every phase": everyPhase,
  "plugins write later in every phase": everyPhase,
  "plugins write at once and later by turns": everyPhase,
  "two plugins write one exclusive key, one at once and one later": {
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
          state: [
            "count = 14",
            'trail = ["0 before-run","1 after-tool 1.0","1 before-model","1 before-step","2 before-end","2 before-model","2 before-step"]',
            "visits = 14",
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
            state: [
              "count = 14",
              'trail = ["0 before-run","1 after-tool 1.0","1 before-model","1 before-step","2 before-end","2 before-model","2 before-step"]',
              "visits = 14",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "tools write state beside plugins": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [add {"order":"1"}] [mark {"order":"2"}] [mark {"order":"3"}]',
            'tool: add = {"done":"1"}',
            'tool: mark = {"done":"2"}',
            'tool: mark = {"done":"3"}',
            "assistant: All three. (Go. > [add] [mark] [mark] > add ok > mark ok > mark ok)",
          ],
          state: [
            "count = 6",
            'said = "mm"',
            'trail = ["1 after-tool 1.0","1 after-tool 1.1","1 after-tool 1.2","1 before-tool 1.0","1 before-tool 1.1","1 before-tool 1.2","add 1"]',
            "visits = 7",
          ],
        },
      ],
      effects: ['1.0 add {"done":"1"} of start', '1.1 mark {"done":"2"} of start', '1.2 mark {"done":"3"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute add 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [add {"order":"1"}] [mark {"order":"2"}] [mark {"order":"3"}]',
              "tool: add ! tool-failed",
              'tool: mark = {"done":"2"}',
              'tool: mark = {"done":"3"}',
              "assistant: All three. (Go. > [add] [mark] [mark] > add tool-failed > mark ok > mark ok)",
            ],
            state: [
              "count = 6",
              'said = "mm"',
              'trail = ["1 after-tool 1.0","1 after-tool 1.1","1 after-tool 1.2","1 before-tool 1.0","1 before-tool 1.1","1 before-tool 1.2"]',
              "visits = 6",
            ],
          },
        ],
        effects: ['1.1 mark {"done":"2"} of start', '1.2 mark {"done":"3"} of start'],
        unknown: [],
      },
      "tool.execute mark 1.1": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [add {"order":"1"}] [mark {"order":"2"}] [mark {"order":"3"}]',
              'tool: add = {"done":"1"}',
              "tool: mark ! tool-failed",
              'tool: mark = {"done":"3"}',
              "assistant: All three. (Go. > [add] [mark] [mark] > add ok > mark tool-failed > mark ok)",
            ],
            state: [
              "count = 6",
              'said = "m"',
              'trail = ["1 after-tool 1.0","1 after-tool 1.1","1 after-tool 1.2","1 before-tool 1.0","1 before-tool 1.1","1 before-tool 1.2","add 1"]',
              "visits = 7",
            ],
          },
        ],
        effects: ['1.0 add {"done":"1"} of start', '1.2 mark {"done":"3"} of start'],
        unknown: [],
      },
      "tool.execute mark 1.2": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [add {"order":"1"}] [mark {"order":"2"}] [mark {"order":"3"}]',
              'tool: add = {"done":"1"}',
              'tool: mark = {"done":"2"}',
              "tool: mark ! tool-failed",
              "assistant: All three. (Go. > [add] [mark] [mark] > add ok > mark ok > mark tool-failed)",
            ],
            state: [
              "count = 6",
              'said = "m"',
              'trail = ["1 after-tool 1.0","1 after-tool 1.1","1 after-tool 1.2","1 before-tool 1.0","1 before-tool 1.1","1 before-tool 1.2","add 1"]',
              "visits = 7",
            ],
          },
        ],
        effects: ['1.0 add {"done":"1"} of start', '1.1 mark {"done":"2"} of start'],
        unknown: [],
      },
    },
  },
  "two runs share the state of their thread": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [add {"order":"1"}]',
            'tool: add = {"done":"1"}',
            "assistant: Added. (Go. > [add] > add ok)",
          ],
          state: ["visits = 2"],
        },
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [add {"order":"1"}]',
            'tool: add = {"done":"1"}',
            "assistant: Added. (Go. > [add] > add ok > Added. (Go. > [add] > add ok) > Go. > [add] > add ok)",
          ],
          state: ["visits = 2"],
        },
      ],
      threads: ["t: rounds = 28", 't: topic = "stesestese"'],
      effects: ['1.0 add {"done":"1"} of first', '1.0 add {"done":"1"} of second'],
      unknown: [],
    },
    afterError: {
      "tool.execute add 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [add {"order":"1"}]',
              "tool: add ! tool-failed",
              "assistant: Added. (Go. > [add] > add tool-failed)",
            ],
            state: ["visits = 2"],
          },
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [add {"order":"1"}]',
              'tool: add = {"done":"1"}',
              "assistant: Added. (Go. > [add] > add tool-failed > Added. (Go. > [add] > add tool-failed) > Go. > [add] > add ok)",
            ],
            state: ["visits = 2"],
          },
        ],
        threads: ["t: rounds = 18", 't: topic = "sesestese"'],
        effects: ['1.0 add {"done":"1"} of second'],
        unknown: [],
      },
      "tool.execute add 1.0 #2": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [add {"order":"1"}]',
              'tool: add = {"done":"1"}',
              "assistant: Added. (Go. > [add] > add ok)",
            ],
            state: ["visits = 2"],
          },
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [add {"order":"1"}]',
              "tool: add ! tool-failed",
              "assistant: Added. (Go. > [add] > add ok > Added. (Go. > [add] > add ok) > Go. > [add] > add tool-failed)",
            ],
            state: ["visits = 2"],
          },
        ],
        threads: ["t: rounds = 18", 't: topic = "stesesese"'],
        effects: ['1.0 add {"done":"1"} of first'],
        unknown: [],
      },
    },
  },
  "cancelled while waiting, and plugins tidy up": {
    uncut: {
      runs: [
        {
          outcome: "cancelled",
          transcript: ["user: Go.", 'assistant: [refund {"order":"1"}]', "tool: refund ! not-run"],
          state: ["count = 3", 'said = "gone"', 'trail = ["0 before-run","1 on-cancel"]', "visits = 3"],
        },
      ],
      threads: ['t: topic = "none"'],
      effects: [],
      unknown: [],
    },
    afterError: {
      // Nobody was there to write at the start; cancelled before it could go on.
      "plugin.create": {
        runs: [
          {
            outcome: "cancelled",
            transcript: ["user: Go."],
            state: ["count = 2", 'said = "gone"', 'trail = ["0 on-cancel"]', "visits = 2"],
          },
        ],
        threads: ['t: topic = "none"'],
        effects: [],
        unknown: [],
      },
      // Nobody is there to tidy up, and that keeps no run from its end.
      "plugin.create #2": {
        runs: [
          {
            outcome: "cancelled",
            transcript: ["user: Go.", 'assistant: [refund {"order":"1"}]', "tool: refund ! not-run"],
            state: ["count = 1", 'trail = ["0 before-run"]', "visits = 1"],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
};
