/** Checked by tsc, never run: what a user of the runtime holds is typed by agent, tool and ticket kind. */
import { z } from "zod";
import {
  agent,
  type JsonValue,
  type Run,
  type RunResult,
  type Runtime,
  type Settlement,
  tool,
} from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { type Equal, holds } from "./equal.ts";

const model = scripted(["Hi."]);
const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string(), cents: z.number() }),
  needsApproval: true,
  execute: async ({ order }) => ({ refunded: order }),
});
const askUser = tool({ name: "ask-user", description: "Ask", input: z.object({ question: z.string() }) });
const support = agent({ name: "support", model, instructions: "Help.", tools: [refund, askUser] });
const served = agent({
  name: "served",
  model,
  context: z.object({ user: z.string() }),
  instructions: ({ user }) => user,
});

export async function starts(runtime: Runtime): Promise<void> {
  const run = await runtime.start(support, "Refund order 42", { thread: "t-1", key: "ticket-981" });
  holds<Equal<typeof run, Run<string>>>();
  await runtime.start(served, "Hi", { context: { user: "ada" } });
  await runtime.start(support, [{ type: "text", text: "hi" }]);
  // @ts-expect-error the context says user
  await runtime.start(served, "Hi", { context: { name: "ada" } });
  // @ts-expect-error the user is text
  await runtime.start(served, "Hi", { context: { user: 7 } });
  // @ts-expect-error an option nobody reads
  await runtime.start(support, "Hi", { urgency: 1 });
  // @ts-expect-error not an input
  await runtime.start(support, 7);
  // @ts-expect-error not a part
  await runtime.start(support, [{ type: "poem", text: "roses" }]);
}

export async function results(runtime: Runtime): Promise<string> {
  const result = await runtime.runs.get("r", support).result();
  holds<Equal<typeof result, RunResult<string>>>();
  holds<Equal<typeof result.steps, number>>();
  // @ts-expect-error only a completed run has an output
  result.output;
  switch (result.outcome) {
    case "completed":
      holds<Equal<typeof result.output, string>>();
      return result.output;
    case "stopped":
      holds<Equal<typeof result.code, string>>();
      return result.detail ?? result.code;
    case "blocked":
      return result.reason;
    case "cancelled":
      holds<Equal<typeof result.reason, string | undefined>>();
      return "cancelled";
    case "failed":
      holds<Equal<typeof result.retry, "never" | "later" | "reload">>();
      return result.error.message;
    case "timed-out":
      return "timed out";
    default:
      return result satisfies never;
  }
}

export async function waits(run: Run<string>): Promise<void> {
  const idle = await run.idle();
  // @ts-expect-error nothing is known before the status is
  idle.tickets;
  if (idle.status === "done") holds<Equal<typeof idle.result, RunResult<string>>>();
  else for (const ticket of idle.tickets) holds<Equal<typeof ticket.prompt, string>>();
  holds<Equal<Awaited<ReturnType<typeof run.output>>, string>>();
}

export async function tickets(runtime: Runtime): Promise<void> {
  const [ticket] = await runtime.tickets.list({ tool: refund, status: "open" });
  if (!ticket) return;
  holds<Equal<typeof ticket.input, { order: string; cents: number }>>();
  // @ts-expect-error which verbs there are depends on the kind
  await ticket.approve();
  if (ticket.kind === "approval") {
    holds<Equal<Awaited<ReturnType<typeof ticket.approve>>, Settlement>>();
    await ticket.approve({ by: "ana@example.com" });
    await ticket.edit({ order: "42", cents: 7_500 });
    await ticket.answer({ refunded: "42" });
    await ticket.reject("why", { key: "k" });
    // @ts-expect-error cents is missing
    await ticket.edit({ order: "42" });
    // @ts-expect-error cents is a number
    await ticket.edit({ order: "42", cents: "7500" });
    // @ts-expect-error the tool's result has another shape
    await ticket.answer("42");
    // @ts-expect-error a reason is text
    await ticket.reject();
    // @ts-expect-error a verb of another kind
    await ticket.release();
  }
  if (ticket.kind === "unknown-outcome") {
    await ticket.markDone({ refunded: "42" });
    await ticket.runAgain();
    // @ts-expect-error the tool's result has another shape
    await ticket.markDone({ paid: true });
    // @ts-expect-error a verb of another kind
    await ticket.approve();
  }

  const [approval] = await runtime.tickets.list({ tool: refund, kind: "approval" });
  await approval?.edit({ order: "42", cents: 1 });
  const [asked] = await runtime.tickets.list({ kind: "input" });
  await asked?.answer("anything");
  // @ts-expect-error a question is only answered
  await asked?.approve();
  const [paused] = await runtime.tickets.list({ kind: "pause" });
  await paused?.release();
  // @ts-expect-error a pause is not approved
  await paused?.approve();
  const [timer] = await runtime.tickets.list({ kind: "timer" });
  holds<Equal<typeof timer, undefined> extends true ? false : true>();
  // @ts-expect-error nobody decides a timer
  await timer?.release();
  // @ts-expect-error not a kind
  await runtime.tickets.list({ kind: "poem" });
}

export async function anyTicket(runtime: Runtime): Promise<void> {
  for (const ticket of await runtime.tickets.list()) {
    switch (ticket.kind) {
      case "approval":
        holds<Equal<typeof ticket.input, JsonValue>>();
        await ticket.approve();
        break;
      case "input":
      case "auth":
        await ticket.answer("yes");
        break;
      case "unknown-outcome":
        await ticket.markFailed("lost");
        break;
      case "pause":
      case "quarantined":
      case "missing-capability":
        await ticket.release();
        break;
      case "timer":
        holds<Equal<typeof ticket.dueAt, number>>();
        break;
      case "child":
      case "background":
        holds<Equal<typeof ticket.child.agent, string>>();
        break;
      default:
        ticket satisfies never;
    }
  }
  await runtime.tickets.decide("id", { kind: "approve", hash: "h" });
  // @ts-expect-error the hash says what was shown
  await runtime.tickets.decide("id", { kind: "approve" });
  // @ts-expect-error only the engine closes
  await runtime.tickets.decide("id", { kind: "closed", why: "cancelled", hash: "h" });
}

export async function byName(runtime: Runtime): Promise<void> {
  const run = await runtime.start("support@2", "hi", { context: { tier: "gold" } });
  holds<Equal<Awaited<ReturnType<typeof run.output>>, JsonValue>>();
  const result = await runtime.run("support", "hi");
  if (result.outcome === "completed") holds<Equal<typeof result.output, JsonValue>>();
  await runtime.runs.fork(run.id, "support", { atStep: 1 });
  // @ts-expect-error by a name or by the agent itself
  await runtime.start({ name: "support" }, "hi");
}
