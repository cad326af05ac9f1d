/** What the scenarios of once.ts come to (effects that must not happen twice): uncut, and where a throw of user code is an answer of its own. */
import type { ExpectedRows } from "./expected-rows.ts";

export const onceRows: ExpectedRows = {
  once: {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"1"}',
            "assistant: Charged. (Go. > [charge] > charge ok)",
          ],
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
              'tool: charge = {"done":"1"}',
              "assistant: Charged. (Go. > [charge] > charge ok)",
            ],
          },
        ],
        effects: [],
        unknown: ["1.0"],
      },
    },
  },
  "once with reconcile": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"1"}',
            "assistant: Charged. (Go. > [charge] > charge ok)",
          ],
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
              "assistant: Charged. (Go. > [charge] > charge tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "takes effect late, once with reconcile": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"1"}',
            "assistant: Charged. (Go. > [charge] > charge ok)",
          ],
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
              "assistant: Charged. (Go. > [charge] > charge tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "throws after its effect, once": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"1"}',
            "assistant: Charged. (Go. > [charge] > charge ok)",
          ],
        },
      ],
      effects: ['1.0 charge {"done":"1"} of start'],
      unknown: ["1.0"],
    },
    afterError: {
      "tool.execute charge 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              'tool: charge = {"done":"1"}',
              "assistant: Charged. (Go. > [charge] > charge ok)",
            ],
          },
        ],
        effects: [],
        unknown: ["1.0"],
      },
    },
  },
  "throws after its effect, once with reconcile": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"1"}',
            "assistant: Charged. (Go. > [charge] > charge ok)",
          ],
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
              "assistant: Charged. (Go. > [charge] > charge tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
      "tool.reconcile charge": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              'tool: charge = {"done":"1"}',
              "assistant: Charged. (Go. > [charge] > charge ok)",
            ],
          },
        ],
        effects: ['1.0 charge {"done":"1"} of start'],
        unknown: ["1.0"],
      },
    },
  },
  "throws after its effect, idempotent": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            "tool: charge ! tool-failed",
            "assistant: Charged. (Go. > [charge] > charge tool-failed)",
          ],
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
              "assistant: Charged. (Go. > [charge] > charge tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "times out after its effect, once": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"1"}',
            "assistant: Charged. (Go. > [charge] > charge ok)",
          ],
        },
      ],
      effects: ['1.0 charge {"done":"1"} of start'],
      unknown: ["1.0"],
    },
    afterError: {
      "tool.execute charge 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              'tool: charge = {"done":"1"}',
              "assistant: Charged. (Go. > [charge] > charge ok)",
            ],
          },
        ],
        effects: [],
        unknown: ["1.0"],
      },
    },
  },
  "times out after its effect, once with reconcile": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"1"}',
            "assistant: Charged. (Go. > [charge] > charge ok)",
          ],
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
              "assistant: Charged. (Go. > [charge] > charge tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
      "tool.reconcile charge": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              'tool: charge = {"done":"1"}',
              "assistant: Charged. (Go. > [charge] > charge ok)",
            ],
          },
        ],
        effects: ['1.0 charge {"done":"1"} of start'],
        unknown: ["1.0"],
      },
    },
  },
  "times out after its effect, idempotent": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            "tool: charge ! timed-out",
            "assistant: Charged. (Go. > [charge] > charge timed-out)",
          ],
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
              "assistant: Charged. (Go. > [charge] > charge tool-failed)",
            ],
          },
        ],
        effects: [],
        unknown: [],
      },
    },
  },
  "unknown outcome marked done": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"by hand"}',
            "assistant: Settled. (Go. > [charge] > charge ok)",
          ],
        },
      ],
      effects: ['1.0 charge {"done":"1"} of start'],
      unknown: ["1.0"],
    },
    afterError: {
      "tool.execute charge 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              'tool: charge = {"done":"by hand"}',
              "assistant: Settled. (Go. > [charge] > charge ok)",
            ],
          },
        ],
        effects: [],
        unknown: ["1.0"],
      },
    },
  },
  "unknown outcome marked failed": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            "tool: charge ! marked-failed",
            "assistant: Settled. (Go. > [charge] > charge marked-failed)",
          ],
        },
      ],
      effects: ['1.0 charge {"done":"1"} of start'],
      unknown: ["1.0"],
    },
    afterError: {
      "tool.execute charge 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              "tool: charge ! marked-failed",
              "assistant: Settled. (Go. > [charge] > charge marked-failed)",
            ],
          },
        ],
        effects: [],
        unknown: ["1.0"],
      },
    },
  },
  "unknown outcome run again": {
    uncut: {
      runs: [
        {
          outcome: "completed",
          transcript: [
            "user: Go.",
            'assistant: [charge {"order":"1"}]',
            'tool: charge = {"done":"1"}',
            "assistant: Settled. (Go. > [charge] > charge ok)",
          ],
        },
      ],
      effects: ['1.0 charge {"done":"1"} of start', '1.0 charge {"done":"1"} of start'],
      unknown: ["1.0"],
    },
    afterError: {
      "tool.execute charge 1.0": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              'tool: charge = {"done":"1"}',
              "assistant: Settled. (Go. > [charge] > charge ok)",
            ],
          },
        ],
        effects: ['1.0 charge {"done":"1"} of start'],
        unknown: ["1.0"],
      },
      "tool.execute charge 1.0 #2": {
        runs: [
          {
            outcome: "completed",
            transcript: [
              "user: Go.",
              'assistant: [charge {"order":"1"}]',
              'tool: charge = {"done":"1"}',
              "assistant: Settled. (Go. > [charge] > charge ok)",
            ],
          },
        ],
        effects: ['1.0 charge {"done":"1"} of start'],
        unknown: ["1.0", "1.0~2"],
      },
    },
  },
  "unknown outcome cancels the run": {
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
};
