/**
 * What the scenarios of plugin-commands.ts (what plugins ask for besides state) come to: uncut, and where a throw is an
 * answer of its own. That of a hook is judged by the rule of its phase.
 */
import type { ExpectedRows } from "./expected-rows.ts";

export const pluginCommandRows: ExpectedRows = {
  "commands scheduled for later phases": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"as planned"}',
            "assistant: Refunded. (Go. > [refund] > refund ok)",
          ],
          state: ["count = 2", 'said = "planned"', "visits = 120"],
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
              'tool: refund = {"done":"as planned"}',
              "assistant: Refunded. (Go. > [refund] > refund ok)",
            ],
            state: ["count = 2", 'said = "planned"', "visits = 120"],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "results rewritten and inputs changed by plugins that take their time": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}] [charge {"order":"2"}] [wire {"order":"3"}]',
            'tool: refund = {"censored":"refund"}',
            'tool: charge = {"censored":"charge"}',
            'tool: wire = {"done":"not really"}',
            "assistant: Three. (Go. > [refund] [charge] [wire] > refund ok > charge ok > wire ok)",
          ],
          state: ["count = 2", 'trail = ["1 after-tool 1.0","1 after-tool 1.1"]', "visits = 2"],
        },
      ],
      effects: ['1.0 refund {"done":"1"} of start', '1.1 charge {"done":"changed"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute refund 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}] [charge {"order":"2"}] [wire {"order":"3"}]',
              'tool: refund = {"censored":"refund"}',
              'tool: charge = {"censored":"charge"}',
              'tool: wire = {"done":"not really"}',
              "assistant: Three. (Go. > [refund] [charge] [wire] > refund ok > charge ok > wire ok)",
            ],
            state: ["count = 2", 'trail = ["1 after-tool 1.0","1 after-tool 1.1"]', "visits = 2"],
          },
        ],
        effects: ['1.1 charge {"done":"changed"} of start'],
        unknown: [],
      },
      "tool.execute charge 1.1": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [refund {"order":"1"}] [charge {"order":"2"}] [wire {"order":"3"}]',
              'tool: refund = {"censored":"refund"}',
              'tool: charge = {"censored":"charge"}',
              'tool: wire = {"done":"not really"}',
              "assistant: Three. (Go. > [refund] [charge] [wire] > refund ok > charge ok > wire ok)",
            ],
            state: ["count = 2", 'trail = ["1 after-tool 1.0","1 after-tool 1.1"]', "visits = 2"],
          },
        ],
        effects: ['1.0 refund {"done":"1"} of start'],
        unknown: [],
      },
    },
  },
  "a plugin's question, answered": {
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
            "count = 3",
            'said = "blue"',
            'trail = ["1 before-tool 1.0","1 on-decision","2 before-end"]',
            "visits = 3",
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
              "count = 3",
              'said = "blue"',
              'trail = ["1 before-tool 1.0","1 on-decision","2 before-end"]',
              "visits = 3",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "continued once, and stopped in the end": {
    uncut: {
      runs: [
        {
          outcome: "stopped enough",
          transcript: [
            "user: Go.",
            "assistant: One.",
            "user: Go on.",
            "assistant: Two. (Go. > One. > Go on.)",
            "user: And on.",
            "assistant: Three. (Go. > One. > Go on. > Two. (Go. > One. > Go on.) > And on.)",
          ],
          state: ['said = "continued"', "visits = 2"],
        },
      ],
      effects: [],
      unknown: [],
    },
    afterError: {},
  },
  "a plugin sends its own run a message": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "user: Note to self.",
            "assistant: Heard. (Go. > [refund] > refund ok > Note to self.)",
          ],
          state: ["visits = 1"],
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
              "assistant: Heard. (Go. > [refund] > refund tool-failed)",
            ],
            state: ["visits = 1"],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "a reply asked for again, and a call attempted again": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            "tool: charge ! not-run",
            'assistant: [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "assistant: Refunded. (Go. > [charge] > charge not-run > [refund] > refund ok)",
          ],
          state: ["count = 3", 'said = "good"', 'trail = ["2 after-tool 2.0"]', "visits = 3"],
        },
      ],
      effects: ['2.0 refund {"done":"1"} of start'],
      unknown: [],
    },
    afterError: {
      "tool.execute refund 2.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              "tool: charge ! not-run",
              'assistant: [refund {"order":"1"}]',
              'tool: refund = {"done":"1"}',
              "assistant: Refunded. (Go. > [charge] > charge not-run > [refund] > refund ok)",
            ],
            state: ["count = 3", 'said = "good"', 'trail = ["2 after-tool 2.0"]', "visits = 3"],
          },
        ],
        effects: ['2.0 refund {"done":"1"} of start'],
        unknown: [],
      },
      "tool.execute refund 2.0 #2": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              "tool: charge ! not-run",
              'assistant: [refund {"order":"1"}]',
              'tool: refund = {"done":"1"}',
              "assistant: Refunded. (Go. > [charge] > charge not-run > [refund] > refund ok)",
            ],
            state: ["count = 3", 'said = "good"', 'trail = ["2 after-tool 2.0"]', "visits = 3"],
          },
        ],
        effects: ['2.0 refund {"done":"1"} of start'],
        unknown: [],
      },
      "tool.execute refund 2.0 #3": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              "tool: charge ! not-run",
              'assistant: [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Refunded. (Go. > [charge] > charge not-run > [refund] > refund tool-failed)",
            ],
            state: ["count = 3", 'said = "good"', 'trail = ["2 after-tool 2.0"]', "visits = 3"],
          },
        ],
        effects: ['2.0 refund {"done":"1"} of start'],
        unknown: [],
      },
    },
  },
  "words and tools that plugins add to the request and take away": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: First. (BE BRIEF. / BE KIND. > Only once. > Step 1. > tools look, refund) [refund {"order":"1"}]',
            'tool: refund = {"done":"1"}',
            "assistant: Second. (BE BRIEF. / BE KIND. > Step 2. > tools refund)",
            "user: Once more.",
            "assistant: Third. (BE QUICK. / BE KIND. > Step 3. > tools look, refund)",
          ],
          state: [
            "count = 6",
            'trail = ["1 after-step","1 before-model","2 after-step","2 before-model","3 after-step","3 before-model"]',
            "visits = 9",
          ],
        },
      ],
      effects: ['1.0 refund {"done":"1"} of start'],
      unknown: [],
    },
    afterError: {
      "plugin.transform shouter": {
        runs: [
          {
            outcome: "failed plugin-failed",
            transcript: ["user: Go."],
            state: ["count = 1", 'trail = ["1 before-model"]', "visits = 2"],
          },
        ],
        effects: [],
        unknown: [],
      },
      "plugin.transform shouter answer": {
        runs: [
          {
            outcome: "failed plugin-failed",
            transcript: ["user: Go."],
            state: ["count = 1", 'trail = ["1 before-model"]', "visits = 2"],
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
              'assistant: First. (BE BRIEF. / BE KIND. > Only once. > Step 1. > tools look, refund) [refund {"order":"1"}]',
              "tool: refund ! tool-failed",
              "assistant: Second. (BE BRIEF. / BE KIND. > Step 2. > tools refund)",
              "user: Once more.",
              "assistant: Third. (BE QUICK. / BE KIND. > Step 3. > tools look, refund)",
            ],
            state: [
              "count = 6",
              'trail = ["1 after-step","1 before-model","2 after-step","2 before-model","3 after-step","3 before-model"]',
              "visits = 9",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
      "plugin.transform shouter #2": {
        runs: [
          {
            outcome: "failed plugin-failed",
            transcript: [
              "user: Go.",
              'assistant: First. (BE BRIEF. / BE KIND. > Only once. > Step 1. > tools look, refund) [refund {"order":"1"}]',
              'tool: refund = {"done":"1"}',
            ],
            state: ["count = 3", 'trail = ["1 after-step","1 before-model","2 before-model"]', "visits = 5"],
          },
        ],
        effects: ['1.0 refund {"done":"1"} of start'],
        unknown: [],
      },
      "plugin.transform shouter answer #2": {
        runs: [
          {
            outcome: "failed plugin-failed",
            transcript: [
              "user: Go.",
              'assistant: First. (BE BRIEF. / BE KIND. > Only once. > Step 1. > tools look, refund) [refund {"order":"1"}]',
              'tool: refund = {"done":"1"}',
            ],
            state: ["count = 3", 'trail = ["1 after-step","1 before-model","2 before-model"]', "visits = 5"],
          },
        ],
        effects: ['1.0 refund {"done":"1"} of start'],
        unknown: [],
      },
      "plugin.transform shouter #3": {
        runs: [
          {
            outcome: "failed plugin-failed",
            transcript: [
              "user: Go.",
              'assistant: First. (BE BRIEF. / BE KIND. > Only once. > Step 1. > tools look, refund) [refund {"order":"1"}]',
              'tool: refund = {"done":"1"}',
              "assistant: Second. (BE BRIEF. / BE KIND. > Step 2. > tools refund)",
              "user: Once more.",
            ],
            state: [
              "count = 5",
              'trail = ["1 after-step","1 before-model","2 after-step","2 before-model","3 before-model"]',
              "visits = 8",
            ],
          },
        ],
        effects: ['1.0 refund {"done":"1"} of start'],
        unknown: [],
      },
      "plugin.transform shouter answer #3": {
        runs: [
          {
            outcome: "failed plugin-failed",
            transcript: [
              "user: Go.",
              'assistant: First. (BE BRIEF. / BE KIND. > Only once. > Step 1. > tools look, refund) [refund {"order":"1"}]',
              'tool: refund = {"done":"1"}',
              "assistant: Second. (BE BRIEF. / BE KIND. > Step 2. > tools refund)",
              "user: Once more.",
            ],
            state: [
              "count = 5",
              'trail = ["1 after-step","1 before-model","2 after-step","2 before-model","3 before-model"]',
              "visits = 8",
            ],
          },
        ],
        effects: ['1.0 refund {"done":"1"} of start'],
        unknown: [],
      },
    },
  },
};
