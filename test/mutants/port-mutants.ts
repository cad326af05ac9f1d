/** Mutants between a process and its ports: order of commit, hint and effect; what a tool is told and what it says. */
import { ToolFailure } from "../../src/domain/errors.ts";
import { messageOf } from "../../src/domain/json.ts";
import type { Wrap } from "../../src/testing/sim/wrap.ts";
import type { Mutant } from "./mutant.ts";

const eventBeforeCommit: Wrap = {
  ports: (ports) => ({
    ...ports,
    store: {
      ...ports.store,
      async commit(asked) {
        const { scope, run, expectedSeq, entries } = asked;
        await ports.bus.publish({ scope, run, seq: expectedSeq + entries.length });
        return ports.store.commit(asked);
      },
    },
  }),
};

/** The worker is told that its intents are written, and they are written later. */
const intentAfterEffect: Wrap = {
  ports: (ports, turn) => ({
    ...ports,
    store: {
      ...ports.store,
      async commit(asked) {
        if (!asked.entries.some((entry) => entry.type === "effect-intended")) return ports.store.commit(asked);
        const written = turn("the intents are written").then(() => ports.store.commit(asked));
        written.catch(() => undefined);
        return { kind: "committed", at: ports.clock.now() };
      },
    },
  }),
};

/** Any throw of a careful tool counts as "nothing happened". */
const throwMeansFailed: Wrap = {
  agent: (agent) => ({
    ...agent,
    tools: {
      ...agent.tools,
      async execute(tool, input, context) {
        try {
          return await agent.tools.execute(tool, input, context);
        } catch (cause) {
          throw agent.tools.spec(tool)?.effect === "once" ? new ToolFailure(messageOf(cause), { cause }) : cause;
        }
      },
    },
  }),
};

const keyChangesOnRetry: Wrap = {
  agent: (agent) => ({
    ...agent,
    tools: {
      ...agent.tools,
      execute(tool, input, context) {
        const { attempt, idempotencyKey } = context;
        const key = attempt === 1 ? idempotencyKey : `${idempotencyKey}-${attempt}`;
        return agent.tools.execute(tool, input, { ...context, idempotencyKey: key });
      },
    },
  }),
};

export const portMutants: readonly Mutant[] = [
  { name: "event before commit", wrap: eventBeforeCommit, caughtBy: "event-before-commit", within: 50 },
  { name: "intent after effect", wrap: intentAfterEffect, caughtBy: "intent-before-effect", within: 50 },
  { name: "throw means failed", wrap: throwMeansFailed, caughtBy: "refused-means-nothing", within: 400 },
  { name: "key changes on retry", wrap: keyChangesOnRetry, caughtBy: "key-stable", within: 800 },
];
