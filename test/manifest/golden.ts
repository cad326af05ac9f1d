/** Manifests with values on which JSON writers differ, and the fingerprints that they have on every Node. */
import type { DeclaredManifest } from "../../src/domain/declared-manifest.ts";
import type { JsonObject } from "../../src/domain/json.ts";

const plain = {
  format: 1,
  agent: "clerk",
  version: "1",
  model: { provider: "scripted", model: "m" },
  instructions: { kind: "text", text: "Be brief." },
  tools: [],
  context: null,
  budget: { steps: 50 },
  declaredBy: { holdfast: "0.0.0" },
};

type Whole<T> = T extends readonly (infer Item)[]
  ? readonly Whole<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]-?: Whole<NonNullable<T[Key]>> }
    : T;

const budget = { steps: 9, wallTimeMs: 1_000, tokens: 1_000, microUsd: 1_000, depth: 2, children: 3 };
/** One field stands for all of it. */
const lent = { format: 1, agent: "helper" } as unknown as Whole<Omit<DeclaredManifest, "declaredBy">>;

/** Every field there is: one that joins DeclaredManifest does not compile until it is here. */
export const whole: Whole<Omit<DeclaredManifest, "instructions" | "context">> & {
  instructions: JsonObject;
  context: JsonObject;
} = {
  format: 1,
  agent: "clerk",
  version: "1",
  model: {
    provider: "scripted",
    model: "m",
    toolCalls: true,
    structuredOutput: true,
    prices: { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 },
    accepts: ["text", "image"],
    contextWindow: 100_000,
    maxOutputTokens: 1_000,
  },
  instructions: { kind: "text", text: "Be brief." },
  tools: [
    {
      name: "book",
      version: "1",
      description: "Books",
      inputSchema: { type: "object", properties: { seats: { type: "number" } } },
      effect: "transactional",
      resume: "replay",
      gate: "never",
      timeoutMs: 1_000,
      concurrency: 2,
      onUnknown: "ask",
      reconciles: false,
      transaction: "sqlite",
      approval: {
        audience: { principals: ["ana"], roles: ["boss"] },
        answerWithinMs: 1_000,
        onExpiry: "reject",
        escalate: { afterMs: 500, audience: { principals: ["dee"], roles: ["owner"] } },
      },
      writes: ["notes"],
    },
  ],
  context: { type: "object" },
  output: { schema: { type: "object" }, mode: "tool", repairs: 2, onInvalid: "fail" },
  history: {
    tokens: 10_000,
    recent: 10,
    resultTokens: 2_048,
    compact: {
      mode: "recent-suffix",
      at: 0.75,
      summaryTokens: 1_024,
      saves: 0.5,
      instructions: "Summarise.",
      model: { provider: "scripted", model: "m" },
    },
  },
  plugins: [{ name: "p", version: "1", config: { limit: 1 } }],
  state: [{ name: "notes", scope: "run", version: 1, merge: "exclusive" }],
  backend: {
    name: "a2a",
    endpoint: {
      baseUrl: "https://agents.test",
      auth: { type: "bearer", parameters: ["token"] },
      target: "clerk",
      timeoutMs: 1_000,
      options: { pollInterval: 1_000 },
    },
    adapt: ["transcript"],
  },
  budget,
  delegates: [
    {
      name: "helper",
      agent: "helper",
      declared: lent,
      budget,
      readOnly: true,
      ephemeral: true,
      background: true,
      handoff: true,
    },
  ],
  under: ["boss/clerk"],
  sinks: ["crm"],
  declaredBy: { holdfast: "0.0.0" },
};

const numbers = [0, -0, 1e21, 1e-7, 0.1 + 0.2, 333333333.3333333, 5e-324, Number.MAX_SAFE_INTEGER, 4.5, 2e-3];
const texts = ["é", "e\u0301", "\u20ac", "\ud83d\ude00", "\u2028\u2029", "\u0000\u001f\u007f", '"\\/', "\ufb33"];

export const goldenManifests: Readonly<Record<string, DeclaredManifest>> = {
  plain: plain as unknown as DeclaredManifest,
  "a function of the context": { ...plain, instructions: { kind: "function" } } as unknown as DeclaredManifest,
  "every field": whole as unknown as DeclaredManifest,
  "numbers and texts": {
    ...plain,
    plugins: [{ name: "p", version: "1", config: { numbers, texts, ...Object.fromEntries(texts.map((t) => [t, t])) } }],
  } as unknown as DeclaredManifest,
  "keys in another order than they sort": {
    ...plain,
    context: {
      z: 1,
      a: { "10": true, "9": false, b: [], A: {} },
      "\u20ac": null,
      "\ud83d\ude00": null,
      "\ufb33": null,
    },
  } as unknown as DeclaredManifest,
};

export const goldenFingerprints: Readonly<Record<string, string>> = {
  plain: "5f429a59aba8871a8710a1fd7c8bcd5db1fb2ec6a3459c70d5d72fdb585d712e",
  "a function of the context": "4785cc30dad0106db16dad178c4305a2a6110a9e3d121bdb69177e15b8e1c20f",
  "every field": "c74fbdddc08caf11475192521a0bee3c9b2aa5f363a19c0d0ca92139886e3e77",
  "numbers and texts": "a088e7e45ad649b473439f8acbd2fae78473abeb640363cd1cb5a99fe1bd081a",
  "keys in another order than they sort": "5c990d2876a3e4a0f7532a29782227ae47c336f6b9003c20db6c41591ba29a91",
};
