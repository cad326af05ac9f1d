/** What a server counted, wherever it says so. */
import { readUsage, type Usage } from "../../domain/run.ts";
import { type Fields, isRecord, listIn, recordIn } from "../shared/fields.ts";

/** Of a chunk or a whole reply; undefined when it counted nothing that is a count. */
export function usageIn(chunk: Fields): Usage | undefined {
  const [choice] = listIn(chunk.choices);
  const places = [chunk.usage, recordIn(chunk.x_groq).usage, recordIn(choice).usage];
  const found = places.find(isRecord);
  return found && readUsage(counts(found));
}

function counts(usage: Fields): object {
  const input = recordIn(usage.prompt_tokens_details);
  const output = recordIn(usage.completion_tokens_details);
  return {
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    cacheReadTokens: input.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens,
    cacheWriteTokens: input.cache_write_tokens ?? usage.cache_creation_input_tokens,
    reasoningTokens: output.reasoning_tokens,
  };
}
