/**
 * The outside world of a crash scenario. It outlives every process and remembers what was done to it.
 * A process gets its own view: once that process is dead, nothing of it reaches the world any more.
 */
import { HoldfastError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { Reconciled, ToolContext } from "../domain/tool.ts";
import type { Clock } from "../ports/clock.ts";

/** One thing that really happened. */
export interface WorldEffect {
  readonly tool: string;
  readonly run: string;
  readonly call: string;
  readonly key: string;
  readonly result: JsonValue;
  /** When it happened, or will: a request on its way arrives even if its sender has died. */
  readonly at: number;
}

/** Who asks for it: a tool's context, or what stands for one. */
export type Caller = Pick<ToolContext, "runId" | "callId" | "idempotencyKey">;

/** What a scenario's tools, sinks and script see of the outside. */
export interface World {
  /** Happens every time it is asked for, as with a receiver that knows no keys. */
  act(tool: string, context: Caller, result: JsonValue): Promise<JsonValue>;
  /** A receiver that knows keys: the second request with a key gets the first answer, and nothing happens. */
  actByKey(tool: string, context: Caller, result: JsonValue): Promise<JsonValue>;
  /** As `act`, but what was asked for happens only after `ms`, whatever becomes of the process that asked. */
  actSlowly(tool: string, context: Caller, slowly: { result: JsonValue; ms: number }): Promise<JsonValue>;
  /** What a tool's `reconcile` asks: did the call with this key take effect? */
  find(key: string): Promise<Reconciled>;
  /** What has happened by now. */
  effects(tool?: string): readonly WorldEffect[];
  /** Waits until someone opens the gate; rejects when the signal aborts first. */
  gate(name: string, signal?: AbortSignal): Promise<void>;
  open(name: string): void;
  /** Never comes back, unless the signal aborts: then it rejects. */
  hang(signal?: AbortSignal): Promise<never>;
}

export interface WorldView extends World {
  /** How many of this process's calls wait on the world, and so are not busy. */
  readonly waiting: () => number;
}

export interface SharedWorld {
  readonly effects: readonly WorldEffect[];
  view(owner: { readonly isDead: () => boolean; readonly clock: Clock }): WorldView;
}

const never: Promise<never> = new Promise(() => undefined);

export function createWorld(): SharedWorld {
  const effects: WorldEffect[] = [];
  const opened = new Set<string>();
  const listeners = new Set<() => void>();

  function add(context: Caller, effect: Pick<WorldEffect, "tool" | "result" | "at">): JsonValue {
    effects.push({ ...effect, run: context.runId, call: context.callId, key: context.idempotencyKey });
    return effect.result;
  }

  function view({ isDead, clock }: { readonly isDead: () => boolean; readonly clock: Clock }): WorldView {
    let waiting = 0;
    const happened = (): readonly WorldEffect[] => effects.filter((each) => each.at <= clock.now());

    /** A wait that ends when `check` holds, or rejects when the signal aborts. */
    function wait(check: () => boolean, signal?: AbortSignal): Promise<void> {
      waiting += 1;
      const ended = new Promise<void>((resolve, reject) => {
        const look = (): void => {
          if (signal?.aborted) end(() => reject(aborted()));
          else if (check()) end(resolve);
        };
        const end = (how: () => void): void => {
          listeners.delete(look);
          signal?.removeEventListener("abort", look);
          waiting -= 1;
          how();
        };
        listeners.add(look);
        signal?.addEventListener("abort", look);
        look();
      });
      return ended;
    }

    return {
      waiting: () => waiting,
      act: async (tool, context, result) => (isDead() ? never : add(context, { tool, result, at: clock.now() })),
      async actByKey(tool, context, result) {
        if (isDead()) return never;
        const first = effects.find((each) => each.key === context.idempotencyKey);
        return first ? first.result : add(context, { tool, result, at: clock.now() });
      },
      async actSlowly(tool, context, { result, ms }) {
        if (isDead()) return never;
        add(context, { tool, result, at: clock.now() + ms });
        waiting += 1;
        await clock.sleep(ms);
        waiting -= 1;
        return result;
      },
      async find(key) {
        if (isDead()) return never;
        const effect = happened().find((each) => each.key === key);
        return effect ? { status: "done", result: effect.result } : { status: "not-done" };
      },
      effects: (tool) => happened().filter((each) => tool === undefined || each.tool === tool),
      gate: (name, signal) => wait(() => opened.has(name), signal),
      open(name) {
        opened.add(name);
        for (const look of [...listeners]) look();
      },
      hang: async (signal) => {
        await wait(() => false, signal);
        return never;
      },
    };
  }

  return { effects, view };
}

function aborted(): HoldfastError {
  return new HoldfastError("wait-aborted", "The tool's signal was aborted");
}
