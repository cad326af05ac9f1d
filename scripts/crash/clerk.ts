/** The agent of the campaign: three tools of two effect classes, one of them behind an approval, in four steps. */
import { type Agent, agent, type Reconciled, type ToolContext, ToolFailure, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";
import { machineTime } from "./evidence.ts";
import type { Failpoints } from "./failpoints.ts";
import type { ToolRequest } from "./tools.ts";

const timeoutMs = 1_000;
const input = z.object({ item: z.string() });

export function createClerk(toolsUrl: string, points: Failpoints): Agent {
  const sendAs =
    (tool: string, effect: ToolRequest["effect"]) =>
    async (_input: unknown, context: ToolContext): Promise<string> => {
      const notAfter = machineTime() + timeoutMs; // first of all: from here on time may stand still
      await points.reach("after-intent");
      const { idempotencyKey: key, runId: run, callId: call, signal } = context;
      const body = JSON.stringify({ tool, effect, key, run, call, notAfter } satisfies ToolRequest);
      const { status } = await fetch(toolsUrl, { method: "POST", body, signal });
      await points.reach("after-effect");
      if (status !== 201) throw new ToolFailure(`${tool} was refused with ${status}`);
      return `${tool} done`;
    };
  const reconcileAs =
    (tool: string) =>
    async (key: string): Promise<Reconciled> => {
      const { status } = await fetch(`${toolsUrl}/${encodeURIComponent(key)}`);
      await points.reach("in-reconcile");
      return status === 200 ? { status: "done", result: `${tool} done` } : { status: "not-done" };
    };
  const ship = tool({
    name: "ship",
    description: "Ships an item",
    input,
    timeoutMs,
    execute: sendAs("ship", "once"),
    reconcile: reconcileAs("ship"),
  });
  const mail = tool({
    name: "mail",
    description: "Mails about an item",
    input,
    timeoutMs,
    effect: "idempotent",
    execute: sendAs("mail", "idempotent"),
  });
  const pay = tool({
    name: "pay",
    description: "Pays for an item",
    input,
    timeoutMs,
    needsApproval: true,
    execute: sendAs("pay", "once"),
    reconcile: reconcileAs("pay"),
  });
  return agent({ name: "clerk", instructions: "Handle the order.", tools: [ship, mail, pay], model });
}

const of = (tool: string, item: string): { tool: string; input: { item: string } } => ({ tool, input: { item } });

/** Messages that are sent to a run make it longer: enough answers for all of them. */
const model = scripted([
  { calls: [of("ship", "a"), of("mail", "a")], delayMs: 10 },
  { calls: [of("pay", "a"), of("mail", "b")], delayMs: 10 },
  { calls: [of("ship", "b")], delayMs: 10 },
  ...Array.from({ length: 20 }, () => "Done."),
]);
