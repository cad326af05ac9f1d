/** Runs that stand still in a state that a test has chosen, at the end of a chain of delegates. */
import { z } from "zod";
import type { CallStatus } from "../../src/domain/run-state.ts";
import { type Agent, agent, delegate, plugin, tool } from "../../src/index.ts";
import type { Model } from "../../src/ports/provider.ts";
import { type FakeRemote, fakeRemote, waitsFor } from "../../src/testing/fake-remote.ts";
import { type ScriptedAnswer, scripted } from "../../src/testing.ts";
import { look } from "./family.ts";

/** What the deepest run stands still at. */
export interface Hold {
  /** Its first commit is kept from the store. */
  readonly birth?: true;
  /** It ends, and whoever has called it thinks on. */
  readonly ends?: true;
  readonly model?: true;
  readonly hook?: "tool-gate" | "before-tool" | "after-tool";
  readonly asks?: true;
  /** What its tool, or the other side of the remote, does. */
  readonly work?: "hangs" | "breaks" | "waits";
  /** A call that is over, beside one that hangs. */
  readonly beside?: true;
  /** A delegate's call has no such state: its run has. */
  readonly ofRemote?: CallStatus;
}

export const shapes = {
  root: 1,
  "root → child": 2,
  "root → child → grandchild": 3,
  "root → child → remote": 3,
} as const;
export type Shape = keyof typeof shapes;
const names = ["root", "child", "grandchild"] as const;
const never = new Promise<never>(() => undefined);

export interface Chain {
  readonly root: Agent<string>;
  readonly remote?: FakeRemote;
  /** Model calls that were really made, by agent. */
  readonly calls: Map<string, number>;
}

export function chain(shape: Shape, hold: Hold, kind: "run" | "call"): Chain {
  const calls = new Map<string, number>();
  const isRemote = shape === "root → child → remote";
  const remote = isRemote ? otherSide(hold) : undefined;
  const elsewhere = remote && (agent({ name: "remote", backend: remote }) as Agent<string>);
  const depth = shapes[shape] - (isRemote ? 1 : 0);
  // The calls of a chain that ends elsewhere are those of the agent that calls the remote.
  const stands = isRemote && kind === "run" ? { ends: hold.ends } : hold;
  let last = deepest({ name: names[depth - 1] as string, hold: stands as Hold, elsewhere, calls });
  for (let level = depth - 2; level >= 0; level -= 1) {
    const isThinking = hold.ends && !isRemote && level === depth - 2;
    const name = names[level] as string;
    const said = scripted([callOf(last.name), isThinking ? hangs : "done"], { sleep });
    const model = counted(said, name, calls);
    last = agent({ name, model, instructions: "", delegates: [delegate(last)] }) as Agent<string>;
  }
  return { root: last, calls, ...(remote ? { remote } : {}) };
}

interface Deepest extends Pick<Chain, "calls"> {
  readonly name: string;
  readonly hold: Hold;
  readonly elsewhere: Agent<string> | undefined;
}

function deepest({ name, hold, elsewhere, calls }: Deepest): Agent<string> {
  const worked = callOf(elsewhere ? elsewhere.name : "work").calls;
  const first = hold.beside ? { calls: [{ tool: "look" }, ...worked] } : { calls: worked };
  const after = hold.ends && elsewhere ? hangs : "done";
  const said = hold.model ? [hangs] : hold.ends && !elsewhere ? ["done"] : [first, after];
  return agent({
    name,
    model: counted(scripted(said, { sleep }), name, calls),
    instructions: "",
    tools: elsewhere ? [look] : [look, work(hold)],
    plugins: [standing(hold)],
    ...(elsewhere ? { delegates: [delegate(elsewhere)] } : {}),
  }) as Agent<string>;
}

function work(hold: Hold) {
  return tool({
    name: "work",
    description: "Work",
    input: z.object({ task: z.string() }),
    execute: (_input, { signal }) => {
      if (hold.work === "breaks") throw new Error("the connection broke");
      return hold.work === "hangs" || hold.beside ? aborted(signal) : "worked";
    },
  });
}

function standing({ hook, asks }: Hold) {
  const hang = ({ call, signal }: { call: { tool: string }; signal: AbortSignal }) =>
    call.tool === "look" ? undefined : aborted(signal);
  return plugin({
    name: "standing",
    create: () => ({
      hooks: {
        ...(hook ? { [hook]: hang } : {}),
        ...(asks ? { "tool-gate": () => ({ type: "ask" as const, prompt: "May it?" }) } : {}),
      },
    }),
  })();
}

function otherSide({ work: does, beside, model }: Hold): FakeRemote {
  const result = { status: { kind: "completed" }, output: { text: "done there" } } as const;
  if (does === "breaks") return fakeRemote([{ task: "t1", breaks: "before-ack", result }]);
  if (does === "waits") return fakeRemote([{ task: "t1", result: waitsFor("input", "Which?") }]);
  return fakeRemote([{ task: "t1", result, ...(does === "hangs" || beside || model ? { until: never } : {}) }]);
}

function callOf(name: string) {
  return { calls: [{ tool: name, input: { task: "x" } }] };
}

const hangs: ScriptedAnswer = { text: "never said", delayMs: Number.MAX_SAFE_INTEGER };

function counted(script: Model, name: string, calls: Map<string, number>): Model {
  return {
    ...script,
    call: (request, signal) => {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      return script.call(request, signal);
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** As long as whoever asks wants to wait. */
function sleep(_ms: number, signal: AbortSignal): Promise<void> {
  return aborted(signal);
}
