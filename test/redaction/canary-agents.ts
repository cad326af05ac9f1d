/** Agents that do well, ask, are denied, fail, are cancelled and crash. */
import { z } from "zod";
import type { DescribedModel } from "../../src/domain/model.ts";
import { type Agent, agent } from "../../src/index.ts";
import { openaiCompatible } from "../../src/providers/openai-compatible/openai-compatible.ts";
import { scripted } from "../../src/testing.ts";
import { tracing } from "../../src/tracing.ts";
import type { telemetry } from "../plugins/tracing/spans.ts";
import { canary } from "./canary-sources.ts";
import { falls, house, type Key, notes, toolsOf } from "./canary-tools.ts";

export interface AgentParts {
  readonly key: Key;
  readonly trace: ReturnType<typeof telemetry>;
  /** Whether traces hold content. */
  readonly content: boolean;
  /** What the code of tools got when it asked for the key. */
  readonly used: string[];
}

const context = z
  .object({ customer: z.string() })
  .refine(({ customer }) => customer !== canary("schema"), { message: `no such customer: ${canary("schema")}` })
  .transform((value) => {
    if (value.customer === canary("cause")) throw new Error(canary("thrown"), { cause: new Error(canary("cause")) });
    return value;
  });

const looks = { tool: "lookup", input: { q: canary("input") } };
const asks = { tool: "asked", input: { q: canary("input") } };
const hanging = scripted([{ calls: [{ tool: "hangs", input: { to: canary("input") } }] }, "Done."]);

/** A provider over HTTP whose server repeats every header that it was sent. */
function wireOf(key: Key): DescribedModel {
  const answer: typeof fetch = async (_url, init) => {
    const sent = JSON.stringify(Object.fromEntries(new Headers(init?.headers)));
    return new Response(JSON.stringify({ error: { message: `${canary("fault")}: ${sent}` } }), { status: 400 });
  };
  const headers = { "x-tenant": canary("header"), "x-key": key };
  return openaiCompatible({ baseURL: "http://models/v1", model: "wire", apiKey: key, headers, fetch: answer });
}

export type Cast = Readonly<Record<(typeof cast)[number], Agent<unknown>>>;
const cast = ["clerk", "asker", "typist", "denied", "faller", "wired", "plugged", "sleeper", "crasher"] as const;

export function agentsOf({ key, trace, content, used }: AgentParts): Cast {
  const { lookup, large, careless, broken, remote, hangs, asked } = toolsOf(key, used);
  const spans = tracing({ tracer: trace.tracer, content });
  const base = { instructions: "Work.", plugins: [spans] };
  const others = ["large", "careless", "broken", "remote"].map((tool) => ({ tool, input: {} }));
  const thinks = { reasoning: canary("reasoning"), text: canary("model"), pieces: 64 };
  return {
    clerk: agent({
      ...{ ...base, name: "clerk", context, tools: [lookup, large, careless, broken, remote] },
      model: scripted([{ ...thinks, calls: [looks, ...others] }, canary("model")]),
    }),
    asker: agent({
      ...{ ...base, name: "asker", policy: house, plugins: [spans, notes()], tools: [lookup, asked] },
      model: scripted([{ calls: [looks, asks, asks, asks] }, canary("model")]),
    }),
    typist: agent({
      ...{ ...base, name: "typist", model: scripted([JSON.stringify({ note: canary("output") })]) },
      ...{ output: z.object({ note: z.string() }), sinks: ["crm", "down"] },
    }),
    denied: agent({ ...base, name: "denied", model: scripted(["Never."]), policy: house }),
    faller: agent({
      ...{ ...base, name: "faller", sinks: ["crm"] },
      model: scripted([{ error: "model-refused", message: `${canary("fault")}: bad header ${canary("header")}` }]),
    }),
    wired: agent({ ...base, name: "wired", model: wireOf(key) }),
    plugged: agent({
      ...{ ...base, name: "plugged", model: scripted(["Never."]) },
      plugins: [spans, falls({ url: canary("config"), key })],
    }),
    sleeper: agent({ ...base, name: "sleeper", model: hanging, tools: [hangs] }),
    crasher: agent({ ...base, name: "crasher", model: hanging, tools: [hangs] }),
  };
}
