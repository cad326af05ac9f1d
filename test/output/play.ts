/** Plays a run of an agent with an output, and gives everything that was told of it. */
import { z } from "zod";
import type { Agent, Message, RunEvent, RunResult, WatchEvent } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { type ScriptedAnswer, testRuntime } from "../../src/testing.ts";

export const output = z.object({ note: z.string(), cents: z.number().int() });

export interface Played {
  readonly result: RunResult<unknown>;
  readonly events: readonly RunEvent[];
  readonly reports: readonly Extract<RunEvent, { type: "output-validated" }>["report"][];
  readonly messages: readonly Message[];
  /** Everything that is not in the journal: pieces of what was being written. */
  readonly pieces: readonly WatchEvent[];
}

export async function play(one: Agent<unknown>): Promise<Played> {
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  const events: RunEvent[] = [];
  const pieces: WatchEvent[] = [];
  for await (const event of run.watch()) {
    if ("seq" in event) events.push(event);
    else pieces.push(event);
  }
  const result = await run.result();
  return {
    result,
    events,
    pieces,
    reports: events.flatMap((event) => (event.type === "output-validated" ? [event.report] : [])),
    messages: events.flatMap((event) => (event.type === "message-appended" && event.message ? [event.message] : [])),
  };
}

/** Notes what the model was asked. */
export function asked(answers: readonly ScriptedAnswer[]): { requests: ModelRequest[]; answers: ScriptedAnswer[] } {
  const requests: ModelRequest[] = [];
  const noting = (answer: ScriptedAnswer) => (request: ModelRequest) => {
    requests.push(request);
    return answer;
  };
  return { requests, answers: answers.map(noting) };
}
