/** Checked by tsc, never run: what an agent gives is typed by its output schema, whoever wrote that. */
import { z } from "zod";
import { type Agent, agent, jsonSchema, type Run, type RunResult, type Runtime } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { type Equal, holds } from "./equal.ts";

const model = scripted(["{}"]);
const common = { name: "clerk", model, instructions: "Help." };

// zod: the type is what the schema makes of the answer, not what the model writes.
const zodded = agent({
  ...common,
  output: z.object({ note: z.string().trim(), cents: z.string().transform(Number), zone: z.string().default("UTC") }),
});
interface Zodded {
  note: string;
  cents: number;
  zone: string;
}
holds<Equal<typeof zodded, Agent<Zodded, unknown>>>();
const union = agent({ ...common, output: z.union([z.object({ a: z.number() }), z.array(z.string())]) });
holds<Equal<typeof union, Agent<{ a: number } | string[], unknown>>>();

// A library of somebody else's, with a type of its own: only the shape counts.
interface Written {
  readonly kind: "object";
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "by-hand";
    readonly types?: { readonly input: { raw: string }; readonly output: { readonly parsed: number } };
    validate(value: unknown): { value: { readonly parsed: number } } | { issues: { message: string }[] };
    readonly jsonSchema: {
      input(options: { target: string }): Record<string, unknown>;
      output(options: { target: string }): Record<string, unknown>;
    };
  };
}
declare const written: Written;
const byHand = agent({ ...common, output: written });
holds<Equal<typeof byHand, Agent<{ readonly parsed: number }, unknown>>>();

// JSON Schema says nothing to the compiler: the type is what its author says, or unknown.
const described = agent({ ...common, output: jsonSchema<{ cents: number }>({ type: "object" }) });
holds<Equal<typeof described, Agent<{ cents: number }, unknown>>>();
const undescribed = agent({ ...common, output: jsonSchema({ type: "object" }) });
holds<Equal<typeof undescribed, Agent<unknown, unknown>>>();

// Beside a context.
const both = agent({ ...common, context: z.object({ user: z.string() }), output: z.object({ ok: z.boolean() }) });
holds<Equal<typeof both, Agent<{ ok: boolean }, { user: string }>>>();

// How the model is asked changes no type.
for (const outputMode of ["native", "tool", "text"] as const) {
  const one = agent({ ...common, output: z.object({ ok: z.boolean() }), outputMode });
  holds<Equal<typeof one, Agent<{ ok: boolean }, unknown>>>();
}
// @ts-expect-error no such mode
agent({ ...common, output: z.object({ ok: z.boolean() }), outputMode: "json" });

export async function outputs(runtime: Runtime): Promise<void> {
  const run = await runtime.start(zodded, "go");
  holds<Equal<typeof run, Run<Zodded>>>();
  const output = await run.output();
  holds<Equal<typeof output, Zodded>>();
  const result = await runtime.runs.get(run.id, zodded).result();
  holds<Equal<typeof result, RunResult<Zodded>>>();
  // @ts-expect-error only a completed run has an output
  result.output;
  if (result.outcome === "completed") holds<Equal<typeof result.output, Zodded>>();
  const idle = await run.idle();
  if (idle.status === "done" && idle.result.outcome === "completed") {
    holds<Equal<typeof idle.result.output, Zodded>>();
  }
  const [parsed, cents, anything] = await Promise.all([
    runtime.run(byHand, "go"),
    runtime.run(described, "go"),
    runtime.run(undescribed, "go"),
  ]);
  if (parsed.outcome === "completed") holds<Equal<typeof parsed.output, { readonly parsed: number }>>();
  if (cents.outcome === "completed") holds<Equal<typeof cents.output, { cents: number }>>();
  if (anything.outcome === "completed") holds<Equal<typeof anything.output, unknown>>();
}
