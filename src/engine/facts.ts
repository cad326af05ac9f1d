/** One queue per run: settlements, verdicts, nudges and the tick of a clock. It starts orders and aborts effects. */
import type { FinishReason, Verdict } from "../domain/entry.ts";
import type { EffectId } from "../domain/ids.ts";
import { callsOf, type Message } from "../domain/message.ts";
import type { RunState } from "../domain/run-state.ts";
import { judge, performModel, performReconcile, performTool, type Stage } from "./perform.ts";
import { type Fact, type JudgeOrder, type ModelOutcome, type Order, orderId, type PreparedFact } from "./work.ts";

export interface Facts {
  start(orders: readonly Order[], state: RunState): void;
  abort(effects: readonly EffectId[]): void;
  /** Something else happened: `take` looks at its `due` again. */
  nudge(): void;
  /** Waits for a fact, for `due` to be true at a nudge, or for `wakeAt`; then gives all that is ready. */
  take(wakeAt: number | undefined, due: () => boolean): Promise<readonly Taken[]>;
  /** The claim is over: abort everything; what still comes in is late. */
  abandon(): void;
}

export type Taken = Fact | PreparedFact;

interface Queue {
  readonly stage: Stage;
  /** Orders whose fact has not been taken yet. */
  readonly started: Set<string>;
  readonly controllers: Map<EffectId, AbortController>;
  ready: { readonly id: string; readonly fact: Taken }[];
  abandoned: boolean;
  wake: (() => void) | undefined;
}

export function openFacts(given: Omit<Stage, "timers">): Facts {
  const queue: Queue = {
    stage: { ...given, timers: new Set() },
    started: new Set(),
    controllers: new Map(),
    ready: [],
    abandoned: false,
    wake: undefined,
  };
  return {
    start: (orders, state) => {
      for (const order of orders) startOne(queue, order, state);
    },
    abort: (effects) => {
      for (const effect of effects) queue.controllers.get(effect)?.abort();
    },
    nudge: () => queue.wake?.(),
    take: (wakeAt, due) => take(queue, wakeAt, due),
    abandon: () => abandon(queue),
  };
}

function startOne(queue: Queue, order: Order, state: RunState): void {
  const id = orderId(order);
  if (queue.started.has(id)) return;
  queue.started.add(id);
  if (order.kind === "judge") return pushLater(queue, id, judged(order, judge(order, queue.stage)));
  const controller = new AbortController();
  queue.controllers.set(order.effect, controller);
  const performed = perform(queue, order, { state, controller }).finally(() => {
    if (queue.controllers.get(order.effect) === controller) queue.controllers.delete(order.effect);
  });
  pushLater(queue, id, performed);
}

async function perform(
  queue: Queue,
  order: Exclude<Order, JudgeOrder>,
  by: { readonly state: RunState; readonly controller: AbortController },
): Promise<Taken> {
  switch (order.kind) {
    case "model": {
      const fact = await performModel({ order, ...by }, queue.stage);
      return fact.kind === "model-settled" ? { ...fact, outcome: judgeReply(queue, fact.outcome) } : fact;
    }
    case "tool":
      return performTool({ order, ...by }, queue.stage);
    case "reconcile":
      return performReconcile(order, queue.stage);
    default:
      return order satisfies never;
  }
}

/** Verdicts that need no waiting join the answer's commit; the others come as facts of their own. */
function judgeReply(queue: Queue, outcome: ModelOutcome): ModelOutcome {
  if (outcome.kind !== "reply") return outcome;
  const isCut = cutFinishes.includes(outcome.finish);
  const verdicts = callsOf({ parts: outcome.parts } as Message).map(({ call, tool, input }) => {
    if (isCut) return cutVerdict(outcome.finish);
    if (input.kind !== "json") return undefined;
    const order: JudgeOrder = { kind: "judge", call, tool, input: input.value, edited: false, round: 0 };
    const verdict = judge(order, queue.stage);
    if (!(verdict instanceof Promise)) return verdict;
    const id = orderId(order);
    queue.started.add(id);
    pushLater(queue, id, judged(order, verdict));
    return undefined;
  });
  return { ...outcome, verdicts };
}

/** A reply that was cut may have cut its calls too: none of them runs. */
const cutFinishes: readonly FinishReason[] = ["length", "content-filter", "error"];

function cutVerdict(finish: FinishReason): Verdict {
  const message = `The reply ended by ${finish}, so its calls may be incomplete; none of them was run`;
  return { kind: "refuse", code: "invalid-input", message };
}

async function judged(order: JudgeOrder, verdict: Verdict | Promise<Verdict>): Promise<Fact> {
  return { kind: "judged", call: order.call, verdict: await verdict };
}

function pushLater(queue: Queue, id: string, work: Promise<Taken>): void {
  work.then(
    (fact) => push(queue, id, fact),
    (cause: unknown) => queue.stage.logger.warn(`Order ${id} broke`, { cause: String(cause) }),
  );
}

/** What was only prepared has not happened. */
function leave({ stage }: Queue, fact: Taken): void {
  if (fact.kind !== "tool-prepared") stage.late(fact);
}

function push(queue: Queue, id: string, fact: Taken): void {
  if (queue.abandoned) return leave(queue, fact);
  queue.ready.push({ id, fact });
  queue.wake?.();
}

async function take(queue: Queue, wakeAt: number | undefined, due: () => boolean): Promise<readonly Taken[]> {
  if (queue.ready.length === 0 && !due()) await nextWake(queue, wakeAt);
  const taken = queue.ready;
  queue.ready = [];
  // Forgotten only now: until a fact is taken, the same order may still be decided again.
  for (const { id } of taken) queue.started.delete(id);
  return taken.map(({ fact }) => fact);
}

function nextWake(queue: Queue, wakeAt: number | undefined): Promise<void> {
  const { clock } = queue.stage;
  return new Promise((resolve) => {
    const timer = wakeAt === undefined ? undefined : new AbortController();
    const wake = (): void => {
      queue.wake = undefined;
      timer?.abort("woken");
      resolve();
    };
    queue.wake = wake;
    if (wakeAt !== undefined) clock.sleep(Math.max(0, wakeAt - clock.now()), timer?.signal).then(resolve, resolve);
  });
}

function abandon(queue: Queue): void {
  queue.abandoned = true;
  for (const controller of queue.controllers.values()) controller.abort();
  for (const stop of queue.stage.timers) stop();
  for (const { fact } of queue.ready) leave(queue, fact);
  queue.ready = [];
  queue.wake?.();
}
