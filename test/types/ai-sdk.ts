/** Checked by tsc, never run: models of the real packages fit, and what we send is what their specifications take. */
import { anthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { z } from "zod";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { type AiSdkModel, agent, fromAiSdk } from "../../src/index.ts";
import type { CallOptions, DataV3, DataV4, PromptCustom } from "../../src/providers/ai-sdk/types.ts";
import { type Equal, holds } from "./equal.ts";

declare const v2: LanguageModelV2;
declare const v3: LanguageModelV3;
declare const v4: LanguageModelV4;

const model = anthropic("claude-sonnet-4-5");
const direct = agent({ name: "a", instructions: "", model, output: z.object({ ok: z.boolean() }) });
holds<Equal<NonNullable<(typeof direct)["~types"]>["output"], { ok: boolean }>>();
agent({ name: "b", instructions: ({ plan }) => plan, model: openai("gpt-5"), context: z.object({ plan: z.string() }) });
for (const each of [v3, v4, openai.chat("gpt-4o")]) agent({ name: "c", instructions: "", model: fromAiSdk(each) });

// @ts-expect-error: specification v2 is too old
agent({ name: "d", instructions: "", model: v2 });
// @ts-expect-error: and so it is for the wrapper
fromAiSdk(v2);
// @ts-expect-error: a provider is no model
agent({ name: "e", instructions: "", model: anthropic });

/** Theirs may be written to; ours are not meant to be. Values of JSON are left out: they differ in nothing else. */
type Writable<T> = T extends AbortSignal | URL
  ? T
  : JsonObject extends T
    ? never
    : readonly JsonValue[] extends T
      ? never
      : T extends object
        ? { -readonly [Key in keyof T]: Writable<T[Key]> }
        : T;

declare const forV4: Writable<CallOptions<DataV4>>;
forV4 satisfies LanguageModelV4CallOptions;

// v3 has neither custom parts nor a level of reasoning, and is sent none.
type Shared = Omit<CallOptions<DataV3>, "reasoning">;
declare const forV3: Writable<Shared>;
forV3 satisfies Omit<LanguageModelV3CallOptions, "prompt">;
type Known<Message> = Message extends { content: (infer Piece)[] }
  ? Omit<Message, "content"> & { content: Exclude<Piece, PromptCustom>[] }
  : Message;
declare const promptV3: Writable<Known<Shared["prompt"][number]>>[];
promptV3 satisfies LanguageModelV3CallOptions["prompt"];

// Every part that v4 knows has its rule in reply.ts; a new one makes this line fail, and wants one.
type Ruled =
  | "stream-start"
  | "response-metadata"
  | "text-start"
  | "text-delta"
  | "text-end"
  | "reasoning-start"
  | "reasoning-delta"
  | "reasoning-end"
  | "tool-input-start"
  | "tool-input-delta"
  | "tool-input-end"
  | "tool-call"
  | "tool-result"
  | "tool-approval-request"
  | "custom"
  | "file"
  | "reasoning-file"
  | "source"
  | "finish"
  | "ping"
  | "raw"
  | "error";
holds<Equal<LanguageModelV4StreamPart["type"], Ruled>>();
holds<AiSdkModel["specificationVersion"] extends "v3" | "v4" ? true : false>();
