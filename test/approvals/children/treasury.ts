/** Agents whose every act waits for somebody: by a tool's terms, at the start of the run, and before the answer is told. */
import { appendFileSync } from "node:fs";
import { z } from "zod";
import type { ApprovalTerms } from "../../../src/domain/approval.ts";
import { type Agent, agent, policy, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/providers/scripted.ts";

/** Long enough for a process under load to ask everybody before the first deadline. */
const deadlineMs = 4_000;
const someone = { principals: ["nobody@example.com"] };
const expiring = { audience: someone, answerWithinMs: deadlineMs };

function wiring(name: string, approval: ApprovalTerms, file: string): Agent<unknown> {
  const wire = tool({
    name: "wire",
    description: "Wires money",
    input: z.object({}),
    effect: "once",
    needsApproval: true,
    approval,
    execute: (_input, { runId }) => {
      appendFileSync(file, `${name} ${runId}\n`);
      return "wired";
    },
  });
  const model = scripted([{ calls: [{ tool: "wire", input: {} }] }, "Done."]);
  return agent({ name, model, instructions: "Wire.", tools: [wire] });
}

function speaking(name: string, stage: "run-start" | "output"): Agent<unknown> {
  const ask = { ask: "May it?", terms: expiring };
  return agent({
    name,
    model: scripted(["Said."]),
    instructions: "Speak.",
    policy: policy({ name: "house", [stage]: () => ask }),
  });
}

/** By name; `file` is where the money goes. */
export function treasury(file: string): readonly Agent<unknown>[] {
  return [
    wiring("rejecting", { ...expiring, onExpiry: "reject" }, file),
    wiring("approving", { ...expiring, onExpiry: "approve" }, file),
    wiring("cancelling", { ...expiring, onExpiry: "cancel-run" }, file),
    wiring("escalating", { audience: someone, escalate: { afterMs: deadlineMs, audience: { roles: ["boss"] } } }, file),
    speaking("starting", "run-start"),
    speaking("speaking", "output"),
  ];
}
