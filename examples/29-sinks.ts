// The output and the end of each run are told to sinks: again with the same key while a sink is down, and as evidence when it never takes them.
// expect: crm has note "Order 42 is on its way." by attempt 2; 1 letter was dead: no such customer; told again, crm has the end
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { agent, createRuntime, jsonlSink, type Sink, SinkRefusal } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const path = join(mkdtempSync(join(tmpdir(), "holdfast-")), "ended.jsonl");
const notes = new Map<string, string>();
const customers = new Set<string>();
const ended = new Set<string>();

// #region agent
const support = agent({
  name: "support",
  model: scripted(['{ "note": "Order 42 is on its way." }']),
  instructions: "Answer the customer.",
  output: z.object({ note: z.string() }),
  sinks: ["crm", "archive"],
});
// #endregion agent

// #region sink
const crm: Sink = {
  timeoutMs: 10_000,
  deliver: async (message, { key, attempt, signal }) => {
    if (message.type === "output") return saveNote(key, message.output as { note: string }, { attempt, signal });
    if (!customers.has("ada")) throw new SinkRefusal("no such customer"); // never again; any other throw means later
    ended.add(message.run);
  },
};
// #endregion sink

/** Stands for a receiver that is down at first, and remembers keys. */
async function saveNote(key: string, { note }: { note: string }, how: { attempt: number; signal: AbortSignal }) {
  if (how.attempt === 1) throw new Error("503 Service Unavailable");
  if (!notes.has(key)) notes.set(key, `${JSON.stringify(note)} by attempt ${how.attempt}`);
}

// #region runtime
await using runtime = await createRuntime({
  agents: [support],
  sinks: { crm, archive: jsonlSink(path) },
  pollMs: 20,
});
const run = await runtime.start(support, "Where is order 42?");
await run.result();
// #endregion runtime

while (notes.size === 0 || readFileSync(path, "utf8").split("\n").length < 3) await delay(50);

// #region evidence
const dead = (await run.evidence()).filter(({ kind }) => kind === "dead-delivery");
// #endregion evidence

customers.add("ada");
// #region retell
const again = await run.retell({ sink: "crm", by: "ana@example.com" }); // 1: on its way, under its own key
// #endregion retell
while (ended.size < again) await delay(50);

const why = dead.map(({ body }) => (body as { error: string }).error);
console.log(`crm has note ${[...notes.values()]}; ${dead.length} letter was dead: ${why}; told again, crm has the end`);
