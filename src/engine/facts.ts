/** One queue per run: settlements, verdicts, nudges and the tick of a clock. It starts orders and aborts effects. */
import type { EffectId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import { put } from "./ask.ts";
import { performCompaction, performModel, performReconcile, performTool } from "./perform.ts";
import { performAbort, performLook, performTurn } from "./perform-turn.ts";
import type { Stage, Standing } from "./stage.ts";
import { isAwaitable } from "./whenever.ts";
import { type EffectOrder, type Fact, orderId, type PreparedFact, type Question } from "./work.ts";

export interface Facts {
  /** Puts questions to user code. What is answered at once is answered here, the rest comes as a fact later. */
  ask(questions: readonly Question[], standing: Standing): readonly Fact[];
  start(orders: readonly EffectOrder[], state: RunState): void;
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

export function openFacts(stage: Stage): Facts {
  const queue: Queue = {
    stage,
    started: new Set(),
    controllers: new Map(),
    ready: [],
    abandoned: false,
    wake: undefined,
  };
  return {
    ask: (questions, standing) => questions.flatMap((question) => askOne(queue, question, standing)),
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

function askOne(queue: Queue, question: Question, standing: Standing): readonly Fact[] {
  const id = orderId(question);
  if (queue.started.has(id)) return [];
  const answer = put(question, standing, queue.stage);
  if (!isAwaitable(answer)) return [answer];
  queue.started.add(id);
  pushLater(queue, id, Promise.resolve(answer));
  return [];
}

function startOne(queue: Queue, order: EffectOrder, state: RunState): void {
  const id = orderId(order);
  if (queue.started.has(id)) return;
  queue.started.add(id);
  const controller = new AbortController();
  queue.controllers.set(order.effect, controller);
  const performed = perform(queue, order, { state, controller }).finally(() => {
    if (queue.controllers.get(order.effect) === controller) queue.controllers.delete(order.effect);
  });
  pushLater(queue, id, performed);
}

async function perform(
  queue: Queue,
  order: EffectOrder,
  by: { readonly state: RunState; readonly controller: AbortController },
): Promise<Taken> {
  switch (order.kind) {
    case "model":
      return performModel({ order, ...by }, queue.stage);
    case "compaction":
      return performCompaction({ order, ...by }, queue.stage);
    case "tool":
      return performTool({ order, ...by }, queue.stage);
    case "reconcile":
      return performReconcile(order, queue.stage);
    case "remote": {
      const seen = (fact: Fact): void => push(queue, `${orderId(order)}:seen`, fact);
      return performTurn({ order, ...by, seen }, queue.stage);
    }
    case "look":
      return performLook({ order, ...by }, queue.stage);
    case "remote-abort":
      return performAbort({ order, ...by }, queue.stage);
    default:
      return order satisfies never;
  }
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
