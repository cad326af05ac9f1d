/**
 * Two workers with different versions of an agent on one store, whose runs move: a run goes on wherever its agent is known
 * by name, as the agent is there.
 *
 * V1 A tool that the worker does not have is a result that the model reads, and the run goes on.
 * V2 An attempt of such a tool that was lost is nobody's guess, whatever its class was: its outcome is unknown.
 */
import { expect, test } from "vitest";
import type { Entry } from "../../src/domain/entry.ts";
import { createClerk, planOf } from "./clerk.ts";
import { freshStage, journalOf, openDesk, startWorker, until, worldOf } from "./crew.ts";

function errorCodes(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "message-appended" || entry.body.kind !== "here") return [];
    return entry.body.message.parts.flatMap((part) =>
      part.type === "tool-result" && part.result.kind === "error" ? [part.result.code] : [],
    );
  });
}

test.concurrent("V1 a run moves to a worker whose agent has lost a tool: the model is told, and the run ends", {
  timeout: 60_000,
}, async (context) => {
  const stage = await freshStage("sqlite", context);
  const desk = await openDesk(stage);
  const older = startWorker(stage, { leaseMs: 60_000 });
  const run = await desk.start(createClerk(stage), planOf([{ tool: "act", ms: 1_500 }], [{ tool: "pay" }]));
  await until(() => worldOf(stage).length > 0);
  older.signal("SIGTERM");
  expect(await older.exited).toBe(0);
  startWorker(stage, { leaseMs: 60_000, tools: ["act"] });
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "Done." });
  expect(errorCodes(await journalOf(stage, run.id))).toEqual(["unknown-tool"]);
  expect(worldOf(stage).filter(({ tool }) => tool === "pay")).toEqual([]);
});

test.concurrent("V2 an idempotent call that was lost is not repeated by a worker that does not have it", {
  timeout: 60_000,
}, async (context) => {
  const stage = await freshStage("sqlite", context);
  const desk = await openDesk(stage);
  const settings = { leaseMs: 1_000, timeoutMs: 1_000 };
  const older = startWorker(stage, settings);
  const run = await desk.start(createClerk(stage), planOf([{ tool: "act", ms: 900 }]));
  await until(() => worldOf(stage).length > 0);
  await older.kill();
  startWorker(stage, { ...settings, tools: ["book"] });
  const idle = await run.idle();
  expect(idle.status === "waiting" && idle.tickets.map(({ kind }) => kind)).toEqual(["unknown-outcome"]);
  expect(worldOf(stage)).toHaveLength(1);
});
