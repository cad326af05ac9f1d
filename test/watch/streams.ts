/** What watching is tested with: two agents that do the same, and a stream read until nothing more comes. */
import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { WatchEvent, WatchOptions } from "../../src/runtime/runtime.ts";
import { turn } from "../../src/testing/test-process.ts";

export const look = tool({
  name: "look",
  description: "Look",
  input: z.object({}),
  effect: "pure",
  execute: () => "seen",
});
const answers = [{ calls: [{ tool: "look", input: {} }] }, "Done."];
export const [talker, writer] = ["talker", "writer"].map((name) =>
  agent({ name, model: scripted(answers), instructions: "Talk.", tools: [look] }),
) as [ReturnType<typeof agent>, ReturnType<typeof agent>];

export type Durable = Extract<WatchEvent, { readonly seq: number }>;
/** A stream as a user asks for it, from the beginning or after a cursor. */
export type Stream = (options: WatchOptions) => AsyncIterable<WatchEvent>;

/** Everything there is by now: a watch of many runs has no end of its own. */
export async function take(stream: Stream, after?: string): Promise<readonly Durable[]> {
  const seen: Durable[] = [];
  const stop = new AbortController();
  const options = { signal: stop.signal, ...(after === undefined ? {} : { after }) };
  const reading = (async () => {
    for await (const event of stream(options)) if ("seq" in event) seen.push(event);
  })();
  reading.catch(() => undefined); // thrown below, when it is waited for
  for (let calm = 0, last = -1; calm < 5; last = seen.length) {
    await turn();
    calm = last === seen.length ? calm + 1 : 0;
  }
  stop.abort();
  await reading;
  return seen;
}
