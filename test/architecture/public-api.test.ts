import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

// What a user can import. A name that appears here is a promise; one that goes away breaks somebody.
const surface = {
  index: {
    values: [
      "HoldfastError",
      "ToolFailure",
      "agent",
      "createRuntime",
      "createWorker",
      "errorCatalogue",
      "isHoldfastError",
      "memory",
      "runWorker",
      "tellModel",
      "textOf",
      "tool",
    ],
    types: [
      "ActOptions",
      "Agent",
      "AgentOptions",
      "CreateThread",
      "Decision",
      "Delta",
      "EffectClass",
      "ErrorCode",
      "EventFilter",
      "EvidenceRow",
      "ForkOptions",
      "Idle",
      "InputId",
      "JsonValue",
      "ListRuns",
      "ListTickets",
      "ListedRun",
      "Message",
      "MessagePartial",
      "MessageRetracted",
      "Model",
      "ModelPart",
      "ModelRequest",
      "NewMessage",
      "Outcome",
      "Page",
      "PageOptions",
      "Part",
      "PlacedMessage",
      "PruneOptions",
      "Reconciled",
      "RetentionPolicy",
      "Run",
      "RunEvent",
      "RunId",
      "RunResult",
      "RunView",
      "Runs",
      "Runtime",
      "RuntimeMetrics",
      "RuntimeOptions",
      "Scope",
      "SentInput",
      "Settlement",
      "StartInput",
      "StartOptions",
      "StoreDefinition",
      "Thread",
      "ThreadId",
      "Threads",
      "Ticket",
      "TicketId",
      "TicketKind",
      "Tickets",
      "Tool",
      "ToolContext",
      "ToolOptions",
      "WatchEvent",
      "WatchOptions",
      "Worker",
      "WorkerOptions",
    ],
  },
  sqlite: {
    values: ["sqlite", "transactionalTool"],
    types: ["SqliteOptions", "SqliteTransaction"],
  },
  postgres: { values: ["postgres", "transactionalTool"], types: ["PostgresTransaction"] },
  testing: {
    values: [
      "aModelThat",
      "anAgentWith",
      "callsTool",
      "callsTools",
      "compareWithMemory",
      "crashEverywhere",
      "createFakeClock",
      "given",
      "interceptStore",
      "says",
      "scripted",
      "simulate",
      "storeConformance",
      "testRuntime",
    ],
    types: [
      "ComparisonOptions",
      "CrashFailure",
      "CrashOptions",
      "CrashReport",
      "CrashScenario",
      "Executed",
      "FakeClock",
      "Intercept",
      "OpenStore",
      "PortCall",
      "ScriptContext",
      "ScriptedAnswer",
      "ScriptedCall",
      "ScriptedOptions",
      "ScriptedReply",
      "SimOptions",
      "SimReport",
      "StoreCheck",
      "Story",
      "StoryOptions",
      "TestRuntime",
      "TestRuntimeOptions",
    ],
  },
} as const;

const source = resolve(import.meta.dirname, "../../src");

test.each(Object.entries(surface))("%s exports these names and no others", async (entry, { values, types }) => {
  const path = resolve(source, `${entry}.ts`);
  expect(Object.keys((await import(path)) as object).sort()).toEqual(values);
  expect(typesOf(readFileSync(path, "utf8"))).toEqual(types);
});

/** The names behind `export type { … }` and `type` inside `export { … }`. */
function typesOf(text: string): readonly string[] {
  const names = [...text.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(([, whole, list = ""]) => {
    const items = list.split(",").map((item) => item.trim());
    return items.filter((item) => item !== "" && (whole || item.startsWith("type ")));
  });
  return names.map((name) => name.replace(/^type /, "")).sort();
}
