/** How a reply ended, and what it took. */
import type { FinishReason } from "../../domain/entry.ts";
import { readUsage, type Usage } from "../../domain/run.ts";
import type { ModelPart } from "../../ports/provider.ts";
import { type Fields, recordIn } from "../shared/fields.ts";
import type { Failures } from "./failures.ts";

interface Ended {
  /** Calls that are whole. */
  readonly calls: number;
  readonly failures: Failures;
}

export function finishOf({ finishReason, usage: counted }: Fields, ended: Ended): ModelPart {
  const reason = reasonOf(finishReason, ended);
  const usage = usageOf(counted);
  return { type: "finish", reason, ...(usage ? { usage } : {}) };
}

/** Total. A reply is whole only if its provider said why it stopped: who says nothing was cut off. */
function reasonOf(said: unknown, { calls, failures }: Ended): FinishReason {
  const { unified, raw } = recordIn(said);
  switch (unified) {
    case "stop":
      return calls > 0 ? "tool-calls" : "stop";
    case "length":
    case "content-filter":
    case "tool-calls":
      return unified;
    case "error":
      throw failures.brokenOff("by an error that it does not name");
    case "interrupted":
      throw failures.brokenOff("before it was finished");
    default:
      if (raw === undefined || raw === null) throw failures.brokenOff("without a reason");
      return "other";
  }
}

/** What is not counted is left out: missing is unknown, not 0. */
function usageOf(counted: unknown): Usage | undefined {
  const { inputTokens, outputTokens } = recordIn(counted);
  const [input, output] = [recordIn(inputTokens), recordIn(outputTokens)];
  return readUsage({
    inputTokens: input.total,
    outputTokens: output.total,
    cacheReadTokens: input.cacheRead,
    cacheWriteTokens: input.cacheWrite,
    reasoningTokens: output.reasoning,
  });
}
