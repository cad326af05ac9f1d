/**
 * Any language model object of the AI SDK, specification v3 and v4, as a model of ours. Told by its shape: neither `ai` nor
 * `@ai-sdk/provider` is needed. One call, one stream; trying again is the engine's matter.
 */
import type { AiSdkModel } from "../../domain/ai-sdk-model.ts";
import type { ModelDescription } from "../../domain/model.ts";
import { isSecret } from "../../domain/secret.ts";
import type { Model, ModelPart, ModelRequest, ModelTool } from "../../ports/provider.ts";
import { recordIn } from "../shared/fields.ts";
import { hiddenHeaders } from "../shared/headers.ts";
import type { PromptCaching } from "../shared/prompt-cache.ts";
import { cachingOf, keySettings, marksFor, markThis } from "./cache.ts";
import { callIds } from "./call-ids.ts";
import { createFailures, type Failures } from "./failures.ts";
import { readUrls } from "./files.ts";
import { askedProblems, namedSettings } from "./named.ts";
import { type AiSdkOptions, checkOptions, describe } from "./options.ts";
import { promptOf } from "./prompt.ts";
import { openReply } from "./reply.ts";
import { mergedSettings } from "./settings.ts";
import { leave, partsOf, readerOf, untilAborted } from "./stream.ts";
import type { CallableModel, CallOptions, CallSettings, DataV3, DataV4, FunctionTool } from "./types.ts";
import { createWarnings } from "./warnings.ts";

export function fromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  checkOptions(model, options);
  const description = describe(model, options);
  const name = `${description.provider}/${description.model}`;
  const { headers, hidden } = headersOf(options);
  const failures = createFailures({ name, hidden });
  const warnings = createWarnings(name, options.onWarning);
  const caching = cachingOf(description.provider, options.promptCache);
  const rules = { model, description, failures, settings: [options.settings, { headers }], name, caching } as const;
  return {
    description,
    problemsWith: (asked) => askedProblems(asked, model),
    async *call(request, signal) {
      signal.throwIfAborted();
      const asked = await optionsFor(request, signal, rules);
      const reader = await opened(model, asked, failures);
      const reply = openReply({ provider: description.provider, failures, warnings });
      yield* answered(partsOf(reader, signal), { reply, failures, signal });
    },
  };
}

interface CallRules {
  readonly model: AiSdkModel;
  readonly description: ModelDescription;
  readonly name: string;
  readonly failures: Failures;
  readonly caching: PromptCaching;
  readonly settings: readonly [AiSdkOptions["settings"], { readonly headers: Readonly<Record<string, string>> }];
}

type Asked = CallOptions<DataV3 | DataV4>;

async function optionsFor(request: ModelRequest, signal: AbortSignal, rules: CallRules): Promise<Asked> {
  const { model, description, name, failures, caching } = rules;
  const { provider } = description;
  const { instructions, messages, tools, output } = request;
  const urls = readUrls(await foreign(() => (model as unknown as CallableModel).supportedUrls, signal, failures));
  const files = { version: model.specificationVersion, name, urls };
  const limit = request.maxOutputTokens ?? description.maxOutputTokens;
  const settings = settingsFor(request, rules);
  const marks = marksFor(request, caching, settings);
  return {
    ...settings,
    prompt: promptOf(instructions, messages, { provider, ids: callIds(messages, provider), files, marks }),
    ...(tools.length === 0 ? {} : { tools: toolsOf(tools, marks !== undefined) }),
    ...(limit === undefined ? {} : { maxOutputTokens: limit }),
    ...(output ? { responseFormat: { type: "json", schema: output.schema, name: "output" } } : {}),
    abortSignal: signal,
  };
}

function toolsOf(tools: readonly ModelTool[], isMarked: boolean): FunctionTool[] {
  const sent = tools.map((tool): FunctionTool => ({ type: "function", ...tool }));
  const last = sent.at(-1);
  if (isMarked && last) markThis(last);
  return sent;
}

/** Runs and plugins set them for one call. */
function settingsFor(request: ModelRequest, rules: CallRules): CallSettings {
  const { settings, tools } = request;
  const problems = askedProblems(request, rules.model);
  if (problems.length > 0) throw rules.failures.refused(`was not called: ${problems.join("; ")}`);
  const {
    toolChoice,
    headers = {},
    ...rest
  } = mergedSettings([
    keySettings(request, rules.caching),
    ...rules.settings,
    namedSettings(request, rules.model),
    settings,
  ]);
  return {
    ...rest,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(toolChoice && tools.length > 0 ? { toolChoice } : {}), // there is nothing to choose from
  };
}

/** What their code answers, or throws, or never gives. */
async function foreign(ask: () => unknown, signal: AbortSignal, failures: Failures): Promise<unknown> {
  try {
    return await untilAborted(Promise.resolve(ask()), signal);
  } catch (cause) {
    throw signal.aborted ? signal.reason : failures.of(cause, "before");
  }
}

type Reader = NonNullable<ReturnType<typeof readerOf>>;

async function opened(model: AiSdkModel, asked: Asked, failures: Failures): Promise<Reader> {
  const { abortSignal: signal } = asked;
  let isLate = false;
  const ask = async (): Promise<unknown> => {
    const result = await (model as unknown as CallableModel).doStream(asked);
    if (isLate) leave(readerOf(result), signal.reason);
    return result;
  };
  try {
    const reader = readerOf(await foreign(ask, signal, failures));
    if (!reader) throw failures.malformed("doStream gave no stream");
    return reader;
  } catch (cause) {
    isLate = true;
    throw signal.aborted ? signal.reason : failures.of(cause, "before");
  }
}

interface Answering {
  readonly reply: ReturnType<typeof openReply>;
  readonly failures: Failures;
  readonly signal: AbortSignal;
}

async function* answered(parts: AsyncIterable<unknown>, answering: Answering): AsyncIterable<ModelPart> {
  const { reply, failures, signal } = answering;
  try {
    for await (const part of parts) {
      for (const ours of reply.take(part)) {
        yield ours;
        if (ours.type === "finish") return; // what comes after it counts for nothing
      }
    }
  } catch (cause) {
    throw signal.aborted ? signal.reason : failures.of(cause, "during");
  }
  throw failures.endedEarly();
}

/** Settings may have headers too. */
function textsIn(headers: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(recordIn(headers)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function headersOf({ headers = {}, settings }: AiSdkOptions): {
  readonly headers: Readonly<Record<string, string>>;
  readonly hidden: readonly string[];
} {
  const entries = Object.entries(headers);
  return {
    headers: Object.fromEntries(entries.map(([name, value]) => [name, isSecret(value) ? value.reveal() : value])),
    hidden: hiddenHeaders({ ...textsIn(settings?.["headers"]), ...headers }),
  };
}
