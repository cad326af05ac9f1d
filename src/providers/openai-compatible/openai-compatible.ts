/**
 * Any server that speaks OpenAI's chat completions: a vendor's, or Ollama, LM Studio, vLLM and llama.cpp at home.
 * One request, one stream; trying again is the engine's matter.
 */
import { HoldfastError, isHoldfastError } from "../../domain/errors.ts";
import type { ModelDescription } from "../../domain/model.ts";
import { isSecret } from "../../domain/secret.ts";
import type { Model } from "../../ports/provider.ts";
import { hiddenHeaders, shortestKey } from "../shared/headers.ts";
import { createFailures } from "./failures.ts";
import {
  type ApiKey,
  checkOptions,
  isKeyText,
  keptAs,
  type OpenAiCompatibleOptions,
  settingsProblem,
} from "./options.ts";
import { readResponse } from "./read-response.ts";
import { wireRequest } from "./wire-request.ts";

export function openaiCompatible(options: OpenAiCompatibleOptions): Model {
  checkOptions(options);
  const { name = "openai-compatible", model } = options;
  const description: ModelDescription = { ...options.description, provider: name, model };
  const address = addressOf(options.baseURL);
  const inQuery = hiddenIn(address);
  return {
    description,
    problemsWith({ settings }) {
      const problem = settings && settingsProblem(settings);
      return problem ? [`settings${problem}`] : [];
    },
    async *call(request, signal) {
      const body = JSON.stringify(wireRequest(request, options, description));
      const { headers, hidden } = await headersOf(options);
      const failures = createFailures({
        name: `${name}/${model}`,
        address: address.origin + address.pathname,
        hidden: [...hidden, ...inQuery],
      });
      const { fetch: send = fetch } = options;
      let response: Response;
      try {
        // A redirect is not followed: headers with keys would go where nobody has said they may.
        response = await send(address, { method: "POST", headers, body, signal, redirect: "manual" });
      } catch (cause) {
        throw signal.aborted ? cause : failures.network(cause, "before");
      }
      yield* readResponse(response, { keptAs: keptAs(options), failures, signal });
    },
  };
}

/** Below the path that was given, whose query stays: some servers have their version there. */
function addressOf(baseURL: string): URL {
  const address = new URL(baseURL);
  address.pathname = `${address.pathname.replace(/\/+$/, "")}/chat/completions`;
  return address;
}

/** Values of the query, as they are and as they are written: one of them may be a key. A version is told by its name. */
function hiddenIn({ search, searchParams }: URL): readonly string[] {
  const written = search
    .slice(1)
    .split("&")
    .map((pair) => pair.split(/=(.*)/s));
  const all = [...searchParams.entries(), ...written.map(([name = "", value = ""]) => [name, value] as const)];
  const values = all.flatMap(([name, value]) => (/version/i.test(name) ? [] : [value]));
  return [...new Set(values)].filter((value) => value.length >= shortestKey);
}

interface SentHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Values that no message may show. */
  readonly hidden: readonly string[];
}

async function headersOf(options: OpenAiCompatibleOptions): Promise<SentHeaders> {
  const key = await keyOf(options);
  const own = Object.entries(options.headers ?? {}).map(([name, value]) => [name, revealed(value)] as const);
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...Object.fromEntries(own),
  };
  return { headers, hidden: [...(key === undefined ? [] : [key]), ...hiddenHeaders(options.headers ?? {})] };
}

function revealed(value: ApiKey): string {
  return isSecret(value) ? value.reveal() : value;
}

async function keyOf({ apiKey, name = "openai-compatible" }: OpenAiCompatibleOptions): Promise<string | undefined> {
  if (typeof apiKey !== "function") return apiKey === undefined ? undefined : revealed(apiKey);
  let key: unknown;
  try {
    key = await apiKey();
  } catch (cause) {
    if (isHoldfastError(cause)) throw cause;
    // What it said stays with the cause: it may speak of the key.
    throw new HoldfastError("model-failed", `The apiKey function of ${name} threw`, { cause });
  }
  const text = isSecret(key) ? key.reveal() : key;
  if (isKeyText(text)) return text;
  throw new HoldfastError("model-unauthorized", `The apiKey function of ${name} answered no key that can be sent`);
}
