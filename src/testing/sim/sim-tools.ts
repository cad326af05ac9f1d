/** The tools of a simulated agent: one per promise the engine makes about effects. Their code is the world's. */
import type { StandardSchema } from "../../domain/standard-schema.ts";
import type { MergedKey } from "../../domain/state-key.ts";
import { type Reconciled, type Tool, type ToolContext, type ToolOptions, tool } from "../../domain/tool.ts";

/** How a call behaves, written in its own input: the same over retries, workers and restarts. */
export const acts = ["ok", "throw-after", "throw-before", "refuse", "slow", "hang", "bad-result"] as const;
export type Act = (typeof acts)[number];

export interface SimInput {
  readonly n: number;
  readonly act: Act;
  /** Words about itself while it works, half of them before its effect. */
  readonly reports?: number;
}

export const toolNames = ["look", "put", "send", "pay", "text", "wire", "gift", "ask", "form"] as const;
export type ToolName = (typeof toolNames)[number];

export const toolTimeoutMs = 300;

/** What the tools' code is made of: the world outside, which outlives every process. */
export interface ToolWorld {
  execute(name: ToolName, input: SimInput, context: ToolContext): Promise<unknown>;
  reconcile(name: ToolName, key: string): Promise<Reconciled>;
  /** An approval rule that has to be waited for. */
  judge(input: SimInput): Promise<boolean>;
}

/** Whether a call may only run once a person has said so; the simulator's own opinion, not the engine's. */
export function mustAsk(name: string, input: SimInput): boolean {
  if (name === "gift") return input.n % 2 === 1;
  return name === "wire" || name === "ask" || name === "form";
}

export const onceTools: readonly string[] = ["send", "pay", "text", "wire"];

const schema: StandardSchema<SimInput> = {
  "~standard": {
    version: 1,
    vendor: "holdfast-sim",
    validate: (value) => {
      const { n, act, reports } = (value ?? {}) as Partial<SimInput>;
      const said = reports === undefined ? {} : { reports };
      if (Number.isInteger(n) && acts.includes(act as Act)) return { value: { n, act, ...said } as SimInput };
      return { issues: [{ message: "must be { n, act }" }] };
    },
    jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
  },
};

type Options = Partial<ToolOptions<StandardSchema<SimInput>, unknown>>;

/** With `works`, each call that is done adds one to it. */
export function createSimTools(world: ToolWorld, works?: MergedKey<number, number>): ReadonlyMap<string, Tool> {
  const define = (name: ToolName, options: Options): Tool =>
    tool({ name, description: name, input: schema, ...options }) as Tool;
  const run = (name: ToolName): Pick<Options, "execute" | "timeoutMs" | "writes"> => ({
    timeoutMs: toolTimeoutMs,
    ...(works ? { writes: [works] } : {}),
    execute: (input: SimInput, context: ToolContext) => {
      if (works) context.state.update(works, 1);
      return world.execute(name, input, context);
    },
  });
  const tools = [
    define("look", { effect: "pure", ...run("look") }),
    define("put", { effect: "idempotent", ...run("put") }),
    define("send", { ...run("send") }),
    define("pay", { ...run("pay"), concurrency: 1, reconcile: (key) => world.reconcile("pay", key) }),
    define("text", { ...run("text"), onUnknown: "tell-model" }),
    define("wire", { ...run("wire"), needsApproval: true }),
    define("gift", { ...run("gift"), effect: "idempotent", needsApproval: (input) => world.judge(input) }),
    define("ask", {}),
    define("form", { ...run("form"), effect: "idempotent", resume: "pass-decision-to-tool" }),
  ];
  return new Map(tools.map((each) => [each.spec.name, each]));
}
