/** Who may answer, what a policy says, and who is told: the options around a run. */
import { z } from "zod";
import type { ApprovalTerms } from "../../../src/domain/approval.ts";
import { isHoldfastError, type PolicyOptions, policy, type Sink, type Ticket, tool } from "../../../src/index.ts";
import { callsTool, says } from "../../../src/testing/story.ts";
import { look } from "./pieces.ts";
import { answerAll, declaredRow, type Play, type Rows, row } from "./told.ts";

/** They try one after the other. */
const people = [{ by: "eve" }, { by: "ada" }, { by: "carol", roles: ["chief"] }];

async function tryAll(tickets: readonly Ticket[], notes: string[]): Promise<void> {
  const [ticket] = tickets;
  for (const who of people) {
    if (ticket?.kind !== "approval") return;
    try {
      const { mine } = await ticket.approve(who);
      notes.push(`${who.by} has approved: ${mine}`);
    } catch (cause) {
      notes.push(`${who.by}: ${isHoldfastError(cause) ? cause.code : "broken"}`);
    }
  }
}

const asked = { name: "ask", description: "Asks first", input: z.object({}), effect: "pure" } as const;

/** All of them try at once and after a minute; then an hour passes. */
function approving(approval: ApprovalTerms | undefined): Play {
  const notes: string[] = [];
  const terms = approval ? { approval } : {};
  const asking = tool({ ...asked, needsApproval: true, ...terms, execute: () => "asked" });
  return {
    agent: { tools: [asking] },
    answers: [callsTool("ask"), says("Done.")],
    notes,
    during: async (story, run) => {
      for (const ms of [60_000, 3_600_000]) {
        const idle = await run.idle();
        if (idle.status === "done") return;
        await tryAll(idle.tickets, notes);
        await story.pass(ms);
      }
    },
  };
}

const forBob: ApprovalTerms = { audience: { principals: ["bob"] } };
const chiefs = { roles: ["chief"] };
const answerWithinMs = 30_000;

function escalating(escalate: Partial<NonNullable<ApprovalTerms["escalate"]>>): ApprovalTerms {
  return { ...forBob, escalate: { afterMs: 30_000, audience: { principals: ["zoe"] }, ...escalate } };
}

const approvalRows: Rows = {
  "tool.approval": row(approving, undefined, forBob),
  "tool.approval.audience": row(approving, {}, forBob),
  "tool.approval.audience.principals": row(approving, forBob, { audience: { principals: ["ada"] } }),
  "tool.approval.audience.roles": row(approving, forBob, { audience: { principals: ["bob"], ...chiefs } }),
  "tool.approval.answerWithinMs": row(approving, forBob, { ...forBob, answerWithinMs }),
  "tool.approval.onExpiry": row(
    approving,
    { ...forBob, answerWithinMs },
    { ...forBob, answerWithinMs, onExpiry: "approve" },
  ),
  "tool.approval.escalate": row(approving, forBob, escalating({ audience: chiefs })),
  "tool.approval.escalate.afterMs": row(
    approving,
    escalating({ audience: chiefs }),
    escalating({ audience: chiefs, afterMs: 120_000 }),
  ),
  "tool.approval.escalate.audience": row(approving, escalating({}), escalating({ audience: chiefs })),
  "tool.approval.escalate.audience.principals": row(
    approving,
    escalating({}),
    escalating({ audience: { principals: ["ada"] } }),
  ),
  "tool.approval.escalate.audience.roles": row(
    approving,
    escalating({}),
    escalating({ audience: { principals: ["zoe"], ...chiefs } }),
  ),
};

const allowing: PolicyOptions = { name: "rules", "run-start": () => "allow" };

function governed(options: PolicyOptions): Play {
  return { agent: { tools: [look], policy: policy(options) }, answers: [callsTool("look"), says("Done.")] };
}

const no = { deny: "No." };

const policyRows: Rows = {
  "policy.name": row(
    governed,
    { ...allowing, "tool-call": () => no },
    { ...allowing, name: "others", "tool-call": () => no },
  ),
  "policy.version": declaredRow(governed, allowing, { ...allowing, version: "2" }),
  "policy.run-start": row(governed, allowing, { ...allowing, "run-start": () => no }),
  "policy.model-call": row(governed, allowing, { ...allowing, "model-call": () => no }),
  "policy.delegation": { elsewhere: "test/delegation/policy.test.ts" },
  "policy.tool-call": row(governed, allowing, { ...allowing, "tool-call": () => no }),
  "policy.output": row(governed, allowing, { ...allowing, output: () => no }),
  "policy.tool-result": row(governed, allowing, { ...allowing, "tool-result": () => no }),
};

function heard(sinks: readonly string[]): Play {
  const notes: string[] = [];
  const crm: Sink = {
    deliver: async ({ type }) => {
      notes.push(type);
    },
  };
  return {
    agent: { sinks },
    notes,
    options: { settings: { sinks: { crm } } },
    during: async (story, run) => {
      await answerAll(story, run);
      await story.pass(120_000);
    },
  };
}

export const aroundRows: Rows = {
  ...approvalRows,
  ...policyRows,
  "agent.policy": row(
    (agent: NonNullable<Play["agent"]>) => ({ agent }),
    {},
    { policy: policy({ name: "rules", "run-start": () => no }) },
  ),
  "agent.sinks": row(heard, [], ["crm"]),
};
