/** Carries out one order and says, as a fact, how it ended. Never rejects for what user code does. */
import type { Verdict } from "../domain/entry.ts";
import type { RunState } from "../domain/run-state.ts";
import { callModel, modelFailure } from "./call-model.ts";
import type { BoundAgent, EngineDeps } from "./deps.ts";
import { brokenEnd, type Ended, reconcileLost, runTool } from "./run-tools.ts";
import { settleWithin } from "./settle-within.ts";
import type { Transcript } from "./transcript.ts";
import type { Fact, JudgeOrder, ModelOrder, PreparedFact, ReconcileOrder, ToolOrder } from "./work.ts";

export interface Stage extends EngineDeps {
  readonly boundAgent: BoundAgent;
  readonly transcript: Transcript;
  readonly epoch: number;
  readonly storeNow: () => number;
  readonly timers: Set<() => void>;
  /** A result that no longer changes anything. */
  readonly late: (fact: Fact) => void;
}

/** An order together with the state it was decided on and the way to abort it. */
export interface Performance<Wanted> {
  readonly order: Wanted;
  readonly state: RunState;
  readonly controller: AbortController;
}

export async function performModel(what: Performance<ModelOrder>, stage: Stage): Promise<Fact> {
  const { effect, attempt } = what.order;
  const call = { ...what, transcript: stage.transcript, agent: stage.boundAgent };
  const outcome = await callModel(call, stage).catch(modelFailure);
  return { kind: "model-settled", effect, attempt, outcome };
}

export async function performTool(what: Performance<ToolOrder>, stage: Stage): Promise<Fact | PreparedFact> {
  const { effect, attempt, call, tool, timeoutMs } = what.order;
  const { boundAgent: agent, epoch, storeNow } = stage;
  const fact = (ended: Ended): Fact => ({ kind: "tool-settled", effect, attempt, call, ...ended });
  const running = runTool({ ...what, agent, epoch, storeNow, late: (ended) => stage.late(fact(ended)) }, stage);
  const end = await running.catch((cause: unknown) => brokenEnd(what.order, agent.tools.spec(tool), cause));
  return "settled" in end ? fact(end) : { kind: "tool-prepared", effect, attempt, call, tool, timeoutMs, ...end };
}

export async function performReconcile(order: ReconcileOrder, stage: Stage): Promise<Fact> {
  const { effect, attempt, call } = order;
  const ended = await reconcileLost(order, stage.boundAgent, stage).catch((cause: unknown) =>
    brokenEnd(order, stage.boundAgent.tools.spec(order.tool), cause),
  );
  return { kind: "tool-settled", effect, attempt, call, ...ended };
}

/** A plain verdict when nothing had to be waited for. */
export function judge(order: JudgeOrder, stage: Stage): Verdict | Promise<Verdict> {
  const { tool, input, edited } = order;
  const verdict = stage.boundAgent.tools.judge({ tool, input, edited });
  return verdict instanceof Promise ? inTime(verdict, stage) : verdict;
}

/** A check that hangs never lets a call through. */
async function inTime(verdict: Promise<Verdict>, stage: Stage): Promise<Verdict> {
  const within = await settleWithin(verdict, stage.limits.judgeTimeoutMs, stage);
  if (within.kind === "value") return within.value;
  const message = `Checking the call did not end within ${stage.limits.judgeTimeoutMs} ms`;
  return { kind: "refuse", code: "tool-failed", message };
}
