/** Tools and plugins of a program that holds a key and is not careful with it; a canary in whatever they say. */
import { inspect } from "node:util";
import { z } from "zod";
import { plugin, policy, Secret, stateKey, ToolFailure, tool } from "../../src/index.ts";
import { canary } from "./canary-sources.ts";

export type Key = Secret | string;

function revealed(key: Key): string {
  return key instanceof Secret ? key.reveal() : key;
}

const nothing = z.object({});

/** With a cause and a stack that say more than it does. */
function fault(message: string, cause?: unknown): Error {
  const error = new Error(message, { cause: new Error(canary("cause"), { cause }) });
  error.stack = `${error.stack}\n    at pay (${canary("stack")}.ts:1:1)`;
  return error;
}

/** What an unlucky caller would hold: this shows that causes and stacks are looked into. */
export const rawFault: Error = fault(canary("thrown"));

/** `used`: what the code of tools got when it asked for the key. */
export function toolsOf(key: Key, used: string[]) {
  const lookup = tool({
    name: "lookup",
    description: "Looks something up",
    input: z.object({ q: z.string() }),
    effect: "pure",
    execute: ({ q }, { log, report, context }) => {
      log(`Looking up ${q}`, { q, key, context, nested: [{ key }], cause: fault(canary("thrown"), key) });
      report({ at: canary("progress") });
      report({ key: key as string });
      used.push(revealed(key));
      return { found: canary("result") };
    },
  });
  const large = tool({
    name: "large",
    description: "Answers at length",
    input: nothing,
    effect: "pure",
    execute: () => `${canary("large")} ${"x".repeat(200_000)} ${canary("deep")} ${key}`,
  });
  const careless = tool({
    name: "careless",
    description: "Returns its key",
    input: nothing,
    effect: "pure",
    execute: () => ({ headers: { authorization: key } }),
  });
  const broken = tool({
    name: "broken",
    description: "Fails",
    input: nothing,
    effect: "pure",
    execute: () => {
      throw new ToolFailure(`${canary("failure")} with ${key}`, { cause: fault(canary("thrown"), { key }) });
    },
  });
  const remote = tool({
    name: "remote",
    description: "Calls out",
    input: nothing,
    effect: "idempotent",
    execute: (_input, { log }) => {
      log("request", { headers: { Authorization: canary("header"), cookie: `a=${canary("header")}` } });
      throw fault(`${canary("thrown")}: 401 for ${canary("header")}`);
    },
  });
  const hangs = tool({
    name: "hangs",
    description: "Never ends",
    input: z.object({ to: z.string() }),
    effect: "once",
    timeoutMs: 100_000,
    execute: () => new Promise<string>(() => undefined),
  });
  const asked = tool({
    name: "asked",
    description: "Needs a word",
    input: z.object({ q: z.string().max(40) }),
    effect: "pure",
    execute: ({ q }) => ({ did: q }),
  });
  return { lookup, large, careless, broken, remote, hangs, asked };
}

/** A hook that throws what it was configured with, at two moments of which one is only logged. */
export const falls = plugin({
  name: "falls",
  config: z.object({ url: z.string(), key: z.union([z.instanceof(Secret), z.string()]) }),
  create: ({ url, key: own }) => {
    const fall = (): never => {
      throw fault(`cannot reach ${url} with ${own}, ${inspect({ own })}`);
    };
    return { hooks: { "before-step": fall, "after-run": fall } };
  },
});

const note = stateKey({ name: "note", schema: z.string(), initial: "" });

export const notes = plugin({
  name: "notes",
  state: [note],
  create: () => ({
    hooks: {
      "before-step": () => [
        note.set(canary("state")),
        { type: "add-context", key: "note", target: "suffix", text: canary("added") },
      ],
    },
  }),
});

export const house = policy({
  name: "house",
  "run-start": ({ run }) => (run.agent === "denied" ? { deny: canary("policy"), code: "sunday" } : "allow"),
  "tool-call": ({ call }) => {
    if (call.tool === "asked") return { ask: canary("prompt") };
    return call.tool === "lookup" ? { deny: canary("policy"), code: "house" } : "allow";
  },
});
