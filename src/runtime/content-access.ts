/** Watching without access to content: the same events, with a mark wherever content would be. */
import { withoutContent } from "../domain/event-content.ts";
import type { WatchEvent, WatchOptions } from "./runtime.ts";

export async function* asAllowed(
  { content = true }: WatchOptions,
  events: AsyncGenerator<WatchEvent>,
): AsyncGenerator<WatchEvent> {
  if (content) yield* events;
  else for await (const event of events) yield event.type === "resync" ? event : withoutContent(event);
}
