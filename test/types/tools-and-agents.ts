/** Checked by tsc, never run: definitions infer their types and mix without a cast. */
import { z } from "zod";
import { type Agent, agent, type Reconciled, type Tool, type ToolContext, tellModel, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { type Equal, holds } from "./equal.ts";

const model = scripted(["Hi."]);

const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string(), cents: z.number().int().positive() }),
  effect: "idempotent",
  needsApproval: ({ cents }) => {
    holds<Equal<typeof cents, number>>();
    return cents > 5_000;
  },
  execute: async ({ order, cents }, context) => {
    holds<Equal<typeof order, string>>();
    holds<Equal<typeof cents, number>>();
    holds<Equal<typeof context, ToolContext>>();
    return { refunded: order };
  },
});
holds<Equal<typeof refund, Tool<{ order: string; cents: number }, { refunded: string }>>>();

// The input type is what a model or a person writes; the code gets what the schema makes of it.
const shout = tool({
  name: "shout",
  description: "Shout",
  input: z.object({ text: z.string().transform((text) => text.length), times: z.number().default(1) }),
  reconcile: async (key, { text }): Promise<Reconciled> => {
    holds<Equal<typeof key, string>>();
    holds<Equal<typeof text, number>>();
    return { status: "unknown" };
  },
  execute: ({ text, times }) => text * times,
});
holds<Equal<typeof shout, Tool<{ text: string; times?: number | undefined }, number>>>();

const askUser = tool({ name: "ask-user", description: "Ask", input: z.object({ question: z.string() }) });
const told = tool({
  name: "told",
  description: "Tells",
  input: z.object({}),
  execute: () => tellModel({ rows: 3 }, "three rows"),
});
holds<Equal<typeof told, Tool<Record<string, never>, { rows: number }>>>();

// Mixed tools need no cast.
const support = agent({ name: "support", model, instructions: "Help.", tools: [refund, shout, askUser, told] });
holds<Equal<typeof support, Agent<string, unknown>>>();
const list: readonly Tool[] = [refund, shout, askUser, told];
agent({ name: "list", model, instructions: "Help.", tools: list });

const served = agent({
  name: "served",
  model,
  context: z.object({ user: z.string(), plan: z.enum(["free", "pro"]) }),
  instructions: ({ user, plan }) => {
    holds<Equal<typeof user, string>>();
    holds<Equal<typeof plan, "free" | "pro">>();
    return `Serve ${user} (${plan}).`;
  },
});
holds<Equal<typeof served, Agent<string, { user: string; plan: "free" | "pro" }>>>();

const typed = agent({
  name: "typed",
  model,
  instructions: "x",
  output: z.object({ note: z.string(), at: z.coerce.number() }),
});
holds<Equal<typeof typed, Agent<{ note: string; at: number }, unknown>>>();

const common = { name: "x", description: "x", input: z.object({ a: z.string() }) };
// @ts-expect-error an option nobody reads
tool({ ...common, retries: 3, execute: () => 1 });
// @ts-expect-error not an effect class
tool({ ...common, effect: "exactly-once", execute: () => 1 });
// @ts-expect-error the schema says a is text
tool({ ...common, execute: ({ a }: { a: number }) => a });
// @ts-expect-error the rule is a boolean
tool({ ...common, needsApproval: () => "yes", execute: () => 1 });
// @ts-expect-error a schema, not a shape
tool({ name: "x", description: "x", input: { a: "string" } });
// @ts-expect-error a schema, not a shape
agent({ name: "x", model, instructions: "x", output: { note: "string" } });
// @ts-expect-error money is a number
agent({ name: "x", model, instructions: "x", budget: { usd: "1" } });
// @ts-expect-error a tool, not its name
agent({ name: "x", model, instructions: "x", tools: ["refund"] });
// @ts-expect-error the context has no age
agent({ name: "x", model, context: z.object({ user: z.string() }), instructions: ({ age }) => `${age}` });
