/** Calls of a reply: their input as it is written, for whoever looks on, and each whole in its place. */
import type { ModelPart } from "../../ports/provider.ts";
import { isComplete } from "../shared/complete.ts";
import { type Fields, textIn } from "../shared/fields.ts";
import { alive } from "./alive.ts";
import type { Blocks } from "./blocks.ts";
import type { Failures } from "./failures.ts";
import { kept } from "./kept.ts";

export interface Calls {
  /** `tool-input-start`, `tool-input-delta` and `tool-call`. */
  take(type: string, fields: Fields): readonly ModelPart[];
  /** The provider has finished its reply: what was held back until then. */
  end(): readonly ModelPart[];
  /** Calls that are whole. */
  readonly count: number;
}

interface OpenCall {
  readonly index: number;
  readonly tool: string;
}

export function openCalls(provider: string, blocks: Blocks, failures: Failures): Calls {
  /** By the provider's id; one that is whole is forgotten, so that a second one of the same id is another. */
  const open = new Map<string, OpenCall>();
  /** R4: by their blocks, which stay open. */
  const unsure = new Map<string, ModelPart>();
  let begun = 0;
  let count = 0;

  function begin(id: string, tool: string): OpenCall {
    const call = { index: begun, tool };
    begun += 1;
    open.set(id, call);
    blocks.open(`call:${call.index}`);
    return call;
  }

  function whole({ toolCallId: id, toolName: tool, input, providerMetadata }: Fields): readonly ModelPart[] {
    if (typeof id !== "string" || typeof tool !== "string" || typeof input !== "string") {
      throw failures.malformed("a tool-call that lacks its id, name or input");
    }
    const { index } = open.get(id) ?? begin(id, tool);
    open.delete(id);
    count += 1;
    const part: ModelPart = {
      type: "tool-call",
      alias: id,
      tool,
      inputText: input.trim() === "" ? "{}" : input, // of a tool without parameters many providers send nothing
      metadata: kept(provider, providerMetadata),
    };
    if (!isComplete(input)) {
      unsure.set(`call:${index}`, part);
      return alive;
    }
    return [...blocks.add(`call:${index}`, part), ...blocks.close(`call:${index}`)];
  }

  return {
    get count() {
      return count;
    },
    end: () => [...unsure].flatMap(([block, part]) => blocks.add(block, part)),
    take(type, fields) {
      if (fields.providerExecuted === true) throw failures.ranItself(textIn(fields.toolName)); // R1
      if (type === "tool-call") return whole(fields);
      const id = String(fields.id);
      const call = type === "tool-input-start" ? begin(id, textIn(fields.toolName)) : open.get(id);
      if (!call) return alive;
      return [{ type: "tool-input-delta", index: call.index, tool: call.tool, text: textIn(fields.delta) }];
    },
  };
}
