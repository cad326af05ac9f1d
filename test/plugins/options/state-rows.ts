/** The options of stateKey(). What a key holds is told to the model. */
import { z } from "zod";
import {
  agent,
  type JsonValue,
  memory,
  plugin,
  type StateKey,
  type StateKeyOptions,
  stateKey,
} from "../../../src/index.ts";
import { anAgentWith, callsTool, says } from "../../../src/testing/story.ts";
import { countingIds, startProcess } from "../../../src/testing/test-process.ts";
import { createFakeClock, scripted } from "../../../src/testing.ts";
import { look } from "./pieces.ts";
import { type Play, type Rows, row } from "./told.ts";

interface Options extends Partial<StateKeyOptions<z.ZodNumber>> {
  readonly merge?: unknown;
}

type Key = StateKey<number>;

function keyWith(options: Options): Key {
  return stateKey({ name: "kept", schema: z.number(), initial: 0, ...options } as StateKeyOptions<z.ZodNumber>);
}

/** In each step: says what the key holds, and adds five to it, or sets it to five. */
function keeping(key: Key) {
  const write = key.merge === "exclusive" ? key.set(5) : ({ type: "set-state", key: key.name, operand: 5 } as const);
  return plugin({
    name: "keeping",
    state: [key],
    create: () => ({
      hooks: {
        "before-step": ({ state }) => [
          { type: "add-context", key: "held", text: `It holds ${state.get(key)}.` },
          write,
        ],
      },
    }),
  })();
}

function kept(options: Options): Play {
  const answers = [callsTool("look"), says("Done.")];
  return { agent: { tools: [look], plugins: [keeping(keyWith(options))] }, answers };
}

/** The thread holds five already, of version 1. */
function keptBefore(options: Options): Play {
  const store = memory();
  const { during: _during, ...play } = kept({ scope: "thread", ...options });
  const fill = async (): Promise<void> => {
    const plugins = [keeping(keyWith({ scope: options.scope ?? "thread" }))];
    const filler = agent({ ...anAgentWith(), model: scripted(["Done."]), plugins });
    const life = { store, agents: [filler], clock: createFakeClock(), ids: countingIds("before") };
    const { runtime } = await startProcess(life);
    await (await runtime.start(filler, "Before.", { thread: "t" })).result();
    await runtime.close();
  };
  return { ...play, options: { store }, start: { thread: "t" }, before: fill };
}

const doubled = (value: JsonValue): number => 2 * Number(value);

export const stateRows: Rows = {
  "stateKey.name": row(kept, {}, { name: "another" }),
  "stateKey.schema": row(kept, {}, { schema: z.number().max(4) }),
  "stateKey.initial": row(kept, {}, { initial: 1 }),
  "stateKey.scope": row(keptBefore, { scope: "run" }, { scope: "thread" }),
  "stateKey.merge": row(kept, {}, { merge: "sum" }),
  "stateKey.version": row(keptBefore, {}, { version: 2 }),
  "stateKey.migrate": row(keptBefore, { version: 2 }, { version: 2, migrate: doubled }),
};
