/** What openaiCompatible() takes, and every problem with it at once. */
import type { JsonObject } from "../../domain/json.ts";
import { toJson } from "../../domain/json.ts";
import type { ModelDescription } from "../../domain/model.ts";
import { descriptionProblems } from "../../domain/model.ts";
import { isFunction, Problems, shown } from "../../domain/problems.ts";
import { isSecret, type Secret } from "../../domain/secret.ts";
import { headerProblems } from "../shared/headers.ts";
import { type PromptCaching, promptCaches } from "../shared/prompt-cache.ts";

export type ApiKey = string | Secret;

export interface OpenAiCompatibleOptions {
  /** Where the server's `/chat/completions` is, for example https://api.openai.com/v1 or http://localhost:11434/v1. */
  readonly baseURL: string;
  /** The model's name as the server knows it. */
  readonly model: string;
  /** Sent as a bearer token. A function is asked before every call, for keys that change. */
  readonly apiKey?: ApiKey | (() => ApiKey | Promise<ApiKey>);
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, ApiKey>>;
  /**
   * What the provider is called in manifests, messages and metadata; "openai-compatible" unless said. What it wants back
   * goes to models of the same name; without a name, to the same server.
   */
  readonly name?: string;
  /** What else is known of the model: window, longest answer, what it reads, prices. Nothing is assumed. */
  readonly description?: Omit<ModelDescription, "provider" | "model">;
  /** Fields of every request body by the server's own names, such as temperature or reasoning_effort. */
  readonly settings?: JsonObject;
  /** The field that bounds the answer; "max_tokens" unless said. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Whether the server is asked to count tokens with `stream_options`; true unless said. */
  readonly countTokens?: boolean;
  /** Whether reasoning goes back to the server that sent it; true unless said. */
  readonly returnReasoning?: boolean;
  /**
   * How its prompt cache is used. "key": requests of one conversation have the same `prompt_cache_key`. "marks": what comes
   * again ends with `cache_control`, as OpenRouter takes it. "none": nothing is sent for it, and a server that caches by
   * itself still does. "key" at api.openai.com, "none" elsewhere, unless said.
   */
  readonly promptCache?: PromptCaching;
  /** For proxies and tests; the global one unless said. */
  readonly fetch?: typeof fetch;
}

const optionNames = [
  "baseURL",
  "model",
  "apiKey",
  "headers",
  "name",
  "description",
  "settings",
  "maxTokensField",
  "countTokens",
  "returnReasoning",
  "promptCache",
  "fetch",
] as const satisfies readonly (keyof OpenAiCompatibleOptions)[];

/** Fields that the request itself decides. */
export const ownFields = [
  "model",
  "messages",
  "tools",
  "stream",
  "stream_options",
  "response_format",
  "max_tokens",
  "max_completion_tokens",
  "n",
];

const isText = (value: unknown): boolean => typeof value === "string" && value.length > 0;
/** What a header takes. */
const isKey = (value: unknown): boolean => isKeyText(isSecret(value) ? value.reveal() : value);
export const isKeyText = (value: unknown): value is string => typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
const isFlag = (value: unknown): boolean => typeof value === "boolean";

export function checkOptions(options: OpenAiCompatibleOptions): void {
  const problems = new Problems(options, optionNames);
  const address = addressProblem(options?.baseURL);
  if (address) problems.add(`baseURL: ${address}`);
  problems.check("model", isText, "must be the model's name as the server knows it");
  problems.optional(
    "apiKey",
    (key) => isKey(key) || isFunction(key),
    "must be a string that is not empty, a secret or a function that answers one; in one line, of ASCII, without spaces",
  );
  problems.optional("name", isText, "must be a string that is not empty");
  problems.oneOf("maxTokensField", ["max_tokens", "max_completion_tokens"]);
  problems.optional("countTokens", isFlag, "must be true or false");
  problems.optional("returnReasoning", isFlag, "must be true or false");
  problems.oneOf("promptCache", promptCaches);
  problems.optional("fetch", isFunction, "must be a function like the global fetch");
  for (const problem of headerProblems(options?.headers)) problems.add(problem);
  checkSettings(options?.settings, problems);
  if (options?.description !== undefined) {
    for (const problem of descriptionProblems(options.description)) problems.add(`description.${problem}`);
  }
  problems.refuse("invalid-options", `The model ${shown(options?.model)} cannot be made`);
}

/** A field that nobody there knows may be refused: only where it is known to be read it is sent without being asked for. */
export function cachingOf({ promptCache, baseURL }: OpenAiCompatibleOptions): PromptCaching {
  return promptCache ?? (new URL(baseURL).hostname === "api.openai.com" ? "key" : "none");
}

/** The key under which parts keep what the server wants back. Two servers without a name are two. */
export function keptAs({ name, baseURL }: OpenAiCompatibleOptions): string {
  return name ?? `openai-compatible:${new URL(baseURL).host}`;
}

/** Never shows the address: what is wrong with it may be a key inside. */
function addressProblem(address: unknown): string | undefined {
  if (typeof address !== "string" || !URL.canParse(address)) return "must be an address such as https://host/v1";
  const { protocol, username, password } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") return "must begin with https:// or http://";
  return username || password ? "has a name or password in it; use apiKey or headers" : undefined;
}

function checkSettings(settings: unknown, problems: Problems): void {
  if (settings === undefined) return;
  const problem = settingsProblem(settings);
  if (problem) problems.add(`settings${problem}`);
}

export function settingsProblem(settings: unknown): string | undefined {
  const json = toJson(settings);
  if (!json.ok) return `: ${json.problem} at ${json.path}`;
  if (typeof json.value !== "object" || json.value === null || Array.isArray(json.value)) return ": must be an object";
  const own = Object.keys(json.value).filter((name) => ownFields.includes(name));
  return own.length > 0 ? `.${own[0]}: is decided by each request, not by settings` : undefined;
}
