/** Carries out one order and says, as a fact, how it ended. Never rejects for what user code does. */
import { messageOf } from "../domain/json.ts";
import { callModel, modelFailure } from "./call-model.ts";
import { type Ended, refusedEnd, shelved } from "./ended.ts";
import { brokenEnd, reconcileLost, runTool } from "./run-tools.ts";
import type { Stage } from "./stage.ts";
import { summarise } from "./summarise.ts";
import type {
  CompactionOrder,
  Fact,
  ModelOrder,
  Performance,
  PreparedFact,
  ReconcileOrder,
  ToolOrder,
} from "./work.ts";

export async function performModel(what: Performance<ModelOrder>, stage: Stage): Promise<Fact> {
  const { effect, attempt } = what.order;
  const outcome = await callModel({ ...what, stage }).catch(modelFailure);
  return { kind: "model-settled", effect, attempt, outcome };
}

export async function performCompaction(what: Performance<CompactionOrder>, stage: Stage): Promise<Fact> {
  const { effect, attempt } = what.order;
  const outcome = await summarise(what, stage).catch(modelFailure);
  return { kind: "model-settled", effect, attempt, outcome };
}

export async function performTool(what: Performance<ToolOrder>, stage: Stage): Promise<Fact | PreparedFact> {
  const { effect, attempt, call, tool, timeoutMs } = what.order;
  const { boundAgent: agent, epoch, storeNow, threadBase } = stage;
  const fact = (ended: Ended): Fact => ({ kind: "tool-settled", effect, attempt, call, ...ended });
  const place = { scope: stage.scope, call };
  const late = (ended: Ended): void => void keptLate(ended, place, stage).then((kept) => stage.late(fact(kept)));
  const running = runTool({ ...what, agent, epoch, storeNow, threadBase, late }, stage);
  const end = await running.catch((cause: unknown) => brokenEnd(what.order, agent.tools.spec(tool), cause));
  if ("settled" in end) return fact(await shelved(end, place, stage));
  return { kind: "tool-prepared", effect, attempt, call, tool, timeoutMs, ...end };
}

/** T5: evidence too refers only to what was put. Nobody cites it, so it goes after a day. */
async function keptLate(ended: Ended, place: Parameters<typeof shelved>[1], stage: Stage): Promise<Ended> {
  try {
    return await shelved(ended, place, stage);
  } catch (cause) {
    return refusedEnd("invalid-result", `The tool ran, but its late result was not kept: ${messageOf(cause)}`);
  }
}

export async function performReconcile(order: ReconcileOrder, stage: Stage): Promise<Fact> {
  const { effect, attempt, call } = order;
  const ended = await reconcileLost(order, stage.boundAgent, stage).catch((cause: unknown) =>
    brokenEnd(order, stage.boundAgent.tools.spec(order.tool), cause),
  );
  const kept = await shelved(ended, { scope: stage.scope, call }, stage);
  return { kind: "tool-settled", effect, attempt, call, ...kept };
}
