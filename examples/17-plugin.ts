// A plugin that watches what a run spends: a state key, hooks in four phases, a tool of its own, and its test.
// expect: paid 1 of 2, 2000 cents left, after a restart: ok
import { equal, throws } from "node:assert/strict";
import { agent, type CallView, plugin, stateKey, textOf, tool } from "holdfast";
import { scripted, testRuntime } from "holdfast/testing";
import { z } from "zod";

// #region key
// Exclusive: each writer sets the whole value, and one that looked at an older value is asked again.
const spent = stateKey({ name: "spending.spent", schema: z.number().int(), initial: 0 });
// #endregion key

const priced = z.object({ cents: z.number() });

function priceOf({ input }: CallView): number {
  const { data } = priced.safeParse(input);
  return data?.cents ?? 0;
}

// #region plugin
const spending = plugin({
  name: "spending",
  config: z.object({ limit: z.number().int().positive(), askAbove: z.number().int().default(10_000) }),
  state: [spent], // what its hooks write

  // A tool for the model. It only reads, so it needs no `writes`.
  tools: ({ limit }) => [
    tool({
      name: "budget-left",
      description: "How many cents may still be spent",
      input: z.object({}),
      effect: "pure",
      execute: (_input, { state }) => limit - state.get(spent),
    }),
  ],

  // One instance per run and process. What has to survive the process is in `spent`, not in a variable here.
  create: ({ limit, askAbove }) => ({
    hooks: {
      "before-step": ({ state }) => ({
        type: "add-context",
        key: "budget",
        target: "suffix",
        text: `${state.get(spent)} of ${limit} cents are spent.`,
      }),

      // Before anybody is asked: a person looks at large sums.
      "tool-gate": ({ call }) => {
        const cents = priceOf(call);
        return cents > askAbove ? { type: "ask", prompt: `Spend ${cents} cents?` } : undefined;
      },

      // Right before it runs, approved or not: put the money aside, or refuse.
      "before-tool": ({ call, state }) => {
        const total = state.get(spent) + priceOf(call);
        if (total > limit) return { type: "deny", reason: `Only ${limit - state.get(spent)} cents are left.` };
        return priceOf(call) > 0 ? spent.set(total) : undefined;
      },

      // A call that failed has cost nothing.
      "after-tool": ({ call, state }) =>
        call.result?.kind === "error" && priceOf(call) > 0 ? spent.set(state.get(spent) - priceOf(call)) : undefined,
    },
  }),
});
// #endregion plugin

const pay = tool({
  name: "pay",
  description: "Pay an invoice",
  input: z.object({ invoice: z.string(), cents: z.number().int().positive() }),
  effect: "idempotent",
  execute: ({ invoice }) => ({ paid: invoice }),
});

// #region agent
const clerk = agent({
  name: "clerk",
  model: scripted([]), // in production a real model; the test brings its own
  instructions: "Pay what is due.",
  tools: [pay],
  plugins: [spending({ limit: 5_000, askAbove: 4_000 })],
});
// #endregion agent

// #region refused
throws(() => agent({ name: "other", model: scripted([]), instructions: "Pay.", plugins: [spending({ limit: 0 })] }), {
  code: "invalid-agent",
  message: /the config of spending does not fit: \$\.limit/,
});
// #endregion refused

// #region test
const says = scripted([
  {
    calls: [
      { tool: "pay", input: { invoice: "a", cents: 3_000 } },
      { tool: "pay", input: { invoice: "b", cents: 4_500 } },
    ],
  },
  { calls: [{ tool: "budget-left" }] },
  ({ messages }) => messages.map(textOf).at(-1) ?? "", // repeats the last thing it reads: the plugin's own words
]);
await using t = await testRuntime({ agents: [clerk], models: { clerk: says } });

const { id } = await t.runtime.start(clerk, "Pay a and b");
equal((await t.runtime.runs.get(id).idle()).status, "waiting"); // a is paid; b is above askAbove

await t.restart(); // what was spent is in the journal, not in the plugin

const [ticket] = await t.runtime.tickets.list({ tool: pay, status: "open" });
if (ticket?.kind !== "approval") throw new Error("no approval is waiting");
equal(ticket.prompt, "Spend 4500 cents?");
await ticket.approve({ by: "ana@example.com" });

const run = t.runtime.runs.get(id, clerk);
equal(await run.output(), "3000 of 5000 cents are spent.");
const paid = t.effects(pay); // b was approved, and refused all the same: only 2000 cents were left
equal(paid.length, 1);
const left = 5_000 - (await run.state()).get(spent);
// #endregion test

// #region seen
for await (const event of run.watch()) {
  if (event.type === "state-changed") console.log(`${event.by} wrote ${event.key}: ${JSON.stringify(event.change)}`);
  if (event.type !== "command-applied") continue;
  for (const { plugin, command } of event.commands) console.log(`${plugin} in ${event.phase}: ${command.type}`);
}
// #endregion seen

console.log(`paid ${paid.length} of 2, ${left} cents left, after a restart: ok`);
