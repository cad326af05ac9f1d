/** One queue per run: settlements, verdicts, nudges and the tick of a clock. It starts orders and aborts effects. */
import type { Verdict } from "../domain/entry.ts";
import type { EffectId } from "../domain/ids.ts";
import { callsOf, type Message } from "../domain/message.ts";
import type { RunState } from "../domain/run-state.ts";
import { callModel } from "./call-model.ts";
import type { BoundAgent, EngineDeps } from "./deps.ts";
import { reconcileLost, runTool } from "./run-tools.ts";
import { settleWithin } from "./settle-within.ts";
import type { Transcript } from "./transcript.ts";
import type { Fact, JudgeOrder, ModelOrder, ModelOutcome, Order, ReconcileOrder, ToolOrder } from "./work.ts";
import { orderId } from "./work.ts";

export interface FactsDeps extends EngineDeps {
  readonly boundAgent: BoundAgent;
  readonly transcript: Transcript;
  readonly epoch: number;
  /** A result that no longer changes anything. */
  readonly late: (fact: Fact) => void;
}

export interface Facts {
  start(orders: readonly Order[], state: RunState): void;
  abort(effects: readonly EffectId[]): void;
  /** Something else happened: `take` looks at its `due` again. */
  nudge(): void;
  /** Waits for a fact, for `due` to be true at a nudge, or for `wakeAt`; then gives all that is ready. */
  take(wakeAt: number | undefined, due: () => boolean): Promise<readonly Fact[]>;
  /** The claim is over: abort everything; what still comes in is late. */
  abandon(): void;
}

export function openFacts(deps: FactsDeps): Facts {
  const started = new Set<string>();
  const controllers = new Map<EffectId, AbortController>();
  let ready: { readonly id: string; readonly fact: Fact }[] = [];
  let abandoned = false;
  let wake: (() => void) | undefined;

  function push(id: string, fact: Fact): void {
    if (abandoned) return deps.late(fact);
    ready.push({ id, fact });
    wake?.();
  }

  function startOne(order: Order, state: RunState): void {
    const id = orderId(order);
    if (started.has(id)) return;
    started.add(id);
    const controller = new AbortController();
    if (order.kind !== "judge") controllers.set(order.effect, controller);
    const done = perform(order, state, controller).then((fact) => {
      if (order.kind !== "judge" && controllers.get(order.effect) === controller) controllers.delete(order.effect);
      push(id, fact);
    });
    done.catch((cause: unknown) => deps.logger.warn(`Order ${id} broke`, { cause: String(cause) }));
  }

  function perform(order: Order, state: RunState, controller: AbortController): Promise<Fact> {
    switch (order.kind) {
      case "model":
        return performModel(order, state, controller);
      case "tool":
        return performTool(order, state, controller);
      case "reconcile":
        return performReconcile(order);
      case "judge":
        return performJudge(order);
      default:
        return order satisfies never;
    }
  }

  async function performModel(order: ModelOrder, state: RunState, controller: AbortController): Promise<Fact> {
    const { boundAgent: agent, transcript } = deps;
    const outcome = await callModel({ order, state, transcript, agent, controller }, deps);
    const { effect, attempt } = order;
    return { kind: "model-settled", effect, attempt, outcome: judgeReply(outcome) };
  }

  /** Verdicts that need no waiting join the answer's commit; the others come as facts of their own. */
  function judgeReply(outcome: ModelOutcome): ModelOutcome {
    if (outcome.kind !== "reply") return outcome;
    const calls = callsOf({ parts: outcome.parts } as Message);
    const verdicts = calls.map(({ call, tool, input }) => {
      if (input.kind !== "json") return undefined;
      const order: JudgeOrder = { kind: "judge", call, tool, input: input.value, edited: false, round: 0 };
      const verdict = judge(order);
      if (!(verdict instanceof Promise)) return verdict;
      startVerdict(order, verdict);
      return undefined;
    });
    return { ...outcome, verdicts };
  }

  function startVerdict(order: JudgeOrder, verdict: Promise<Verdict>): void {
    const id = orderId(order);
    started.add(id);
    inTime(verdict).then(
      (late) => push(id, { kind: "judged", call: order.call, verdict: late }),
      (cause: unknown) => deps.logger.warn(`Order ${id} broke`, { cause: String(cause) }),
    );
  }

  /** A check that hangs never lets a call through. */
  async function inTime(verdict: Promise<Verdict>): Promise<Verdict> {
    const within = await settleWithin(verdict, deps.limits.judgeTimeoutMs, deps.clock);
    if (within.kind === "value") return within.value;
    const message = `Checking the call did not end within ${deps.limits.judgeTimeoutMs} ms`;
    return { kind: "refuse", code: "tool-failed", message };
  }

  function judge(order: JudgeOrder): Verdict | Promise<Verdict> {
    const { tool, input, edited } = order;
    return deps.boundAgent.tools.judge({ tool, input, edited });
  }

  async function performJudge(order: JudgeOrder): Promise<Fact> {
    return { kind: "judged", call: order.call, verdict: await inTime(Promise.resolve(judge(order))) };
  }

  async function performTool(order: ToolOrder, state: RunState, controller: AbortController): Promise<Fact> {
    const ended = await runTool({ order, state, agent: deps.boundAgent, epoch: deps.epoch, controller }, deps);
    const { effect, attempt, call } = order;
    return { kind: "tool-settled", effect, attempt, call, ...ended };
  }

  async function performReconcile(order: ReconcileOrder): Promise<Fact> {
    const ended = await reconcileLost(order, deps.boundAgent, deps.clock);
    const { effect, attempt, call } = order;
    return { kind: "tool-settled", effect, attempt, call, ...ended };
  }

  function nextWake(wakeAt: number | undefined): Promise<void> {
    const timer = new AbortController();
    return new Promise((resolve) => {
      wake = () => {
        wake = undefined;
        timer.abort();
        resolve();
      };
      if (wakeAt === undefined) return;
      deps.clock.sleep(Math.max(0, wakeAt - deps.clock.now()), timer.signal).then(
        () => resolve(),
        () => resolve(),
      );
    });
  }

  return {
    start: (orders, state) => {
      for (const order of orders) startOne(order, state);
    },
    abort: (effects) => {
      for (const effect of effects) controllers.get(effect)?.abort();
    },
    nudge: () => wake?.(),
    async take(wakeAt, due) {
      if (ready.length === 0 && !due()) await nextWake(wakeAt);
      const taken = ready;
      ready = [];
      // Forgotten only now: until a fact is taken, the same order may still be decided again.
      for (const { id } of taken) started.delete(id);
      return taken.map(({ fact }) => fact);
    },
    abandon() {
      abandoned = true;
      for (const controller of controllers.values()) controller.abort();
      for (const { fact } of ready) deps.late(fact);
      ready = [];
      wake?.();
    },
  };
}
