// A policy: what an agent may do, stage by stage, who may approve it, and what counts when nobody does.
// expect: The clerk may not approve itself. Ana from treasury may: completed, and it says: Paid to [account].
import { agent, createRuntime, isHoldfastError, policy, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const pay = tool({
  name: "pay",
  description: "Pay an invoice",
  input: z.object({ invoice: z.string(), cents: z.number() }),
  effect: "idempotent",
  execute: ({ invoice }) => `paid ${invoice}`,
});

// #region policy
const house = policy({
  name: "house",
  "tool-call": ({ call }) => {
    const { cents } = call.input as { cents: number };
    if (cents > 1_000_000) return { deny: "over the limit of this house", code: "amount.too-high" };
    if (cents < 5_000) return "allow";
    return {
      ask: `Pay ${cents / 100} dollars?`,
      terms: {
        audience: { roles: ["treasury"] },
        answerWithinMs: 24 * 60 * 60_000, // a day; then it counts as rejected
        escalate: { afterMs: 4 * 60 * 60_000, audience: { principals: ["cfo@example.com"] } },
      },
    };
  },
  "tool-result": ({ call }) => (JSON.stringify(call.result).includes("iban") ? { deny: "account numbers" } : "allow"),
  output: ({ output }) => {
    if (output.text.includes("password")) return { deny: "a password", code: "secret.password" };
    const hidden = output.text.replace(/\d{8,}/g, "[account]");
    return hidden === output.text ? "allow" : { modify: hidden };
  },
});
// #endregion policy

const clerk = agent({
  name: "clerk",
  instructions: "Pay what is due.",
  model: scripted([{ calls: [{ tool: "pay", input: { invoice: "i-7", cents: 8_000 } }] }, "Paid to 4420100099."]),
  tools: [pay],
  policy: house,
});
await using runtime = await createRuntime({ agents: [clerk] });

const run = await runtime.start(clerk, "Pay invoice i-7");
await run.idle();
const [ticket] = await runtime.tickets.list({ tool: pay, status: "open" });
if (ticket?.kind !== "approval") throw new Error("The call should wait for an approval");
const itself = await ticket
  .approve({ by: "clerk" })
  .catch((cause: unknown) => isHoldfastError(cause, "answer-not-allowed"));

// #region answer
await ticket.approve({ by: "ana@example.com", roles: ["treasury"] }); // roles as your own sign-in says
// #endregion answer

// #region why
const result = await run.result();
if (result.outcome === "blocked") console.log(result.reason, result.code, result.policy?.stage);
// #endregion why
const says = result.outcome === "completed" ? result.output : "nothing";
console.log(
  `The clerk may ${itself ? "not " : ""}approve itself. Ana from treasury may: ${result.outcome}, and it says: ${says}`,
);
