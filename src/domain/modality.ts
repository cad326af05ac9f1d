/** What of a conversation a model cannot read. */
import type { Message, Part } from "./message.ts";
import type { Modality, ModelDescription } from "./model.ts";

/** In words; undefined when it reads everything, or nobody has said what it reads. */
export function unreadable(messages: readonly Message[], { accepts }: ModelDescription): string | undefined {
  if (!accepts) return undefined;
  for (const { id, parts } of messages) {
    const part = parts.find((each) => !accepts.includes(modalityOf(each)));
    if (part) return `message ${id} has ${modalityOf(part)}, and it reads ${accepts.join(", ")}`;
  }
  return undefined;
}

function modalityOf(part: Part): Modality {
  if (part.type !== "image" && part.type !== "file") return "text";
  const [kind] = part.mediaType.split("/");
  if (part.type === "image" || kind === "image") return "image";
  return kind === "audio" ? "audio" : "file";
}
