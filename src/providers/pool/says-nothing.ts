/** An answer that the engine asks for again: it ends as if it were whole, and has neither text nor a call nor a file. */
import type { ModelPart } from "../../ports/provider.ts";

/** Of each part; an answer all of whose parts say nothing is empty. What a foreign model yields may be no part at all. */
export function saysNothing(part: ModelPart | undefined): boolean {
  switch (part?.type) {
    case "text-delta":
      return typeof part.text !== "string" || part.text.trim() === "";
    case "tool-call":
    case "file":
      return false;
    case "finish":
      return part.reason === "stop" || part.reason === "tool-calls"; // what was cut off or filtered is no empty answer
    default:
      return true;
  }
}
