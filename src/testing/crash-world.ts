/**
 * The outside world of a crash scenario. It outlives every process and remembers what was done to it.
 * A process gets its own view: once that process is dead, nothing of it reaches the world any more.
 */
import { HoldfastError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { Reconciled, ToolContext } from "../domain/tool.ts";

/** One thing that really happened. */
export interface WorldEffect {
  readonly tool: string;
  readonly run: string;
  readonly call: string;
  readonly key: string;
  readonly result: JsonValue;
}

/** What a scenario's tools and script see of the outside. */
export interface World {
  /** Happens every time it is asked for, as with a receiver that knows no keys. */
  act(tool: string, context: ToolContext, result: JsonValue): Promise<JsonValue>;
  /** A receiver that knows keys: the second request with a key gets the first answer, and nothing happens. */
  actByKey(tool: string, context: ToolContext, result: JsonValue): Promise<JsonValue>;
  /** What a tool's `reconcile` asks: did the call with this key take effect? */
  find(key: string): Promise<Reconciled>;
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
  view(isDead: () => boolean): WorldView;
}

const never: Promise<never> = new Promise(() => undefined);

export function createWorld(): SharedWorld {
  const effects: WorldEffect[] = [];
  const opened = new Set<string>();
  const listeners = new Set<() => void>();

  function add(tool: string, context: ToolContext, result: JsonValue): JsonValue {
    effects.push({ tool, run: context.runId, call: context.callId, key: context.idempotencyKey, result });
    return result;
  }

  function view(isDead: () => boolean): WorldView {
    let waiting = 0;

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
      act: async (tool, context, result) => (isDead() ? never : add(tool, context, result)),
      async actByKey(tool, context, result) {
        if (isDead()) return never;
        const first = effects.find((each) => each.key === context.idempotencyKey);
        return first ? first.result : add(tool, context, result);
      },
      async find(key) {
        if (isDead()) return never;
        const effect = effects.find((each) => each.key === key);
        return effect ? { status: "done", result: effect.result } : { status: "not-done" };
      },
      effects: (tool) => effects.filter((each) => tool === undefined || each.tool === tool),
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
