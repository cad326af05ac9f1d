// A process is killed inside a `once` tool that nobody can ask. The run waits for a person who knows.
// expect: 1 letter posted; the run says: Posted.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, createRuntime, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const isVictim = process.argv[2] !== undefined;
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "holdfast-unknown-"));
const letters = join(folder, "letters.log");

// #region tool
const postLetter = tool({
  name: "post-letter",
  description: "Print a letter and post it",
  input: z.object({ to: z.string() }),
  effect: "once", // no key to dedupe on, no way to ask the letter box: so it is never repeated on a guess
  timeoutMs: 300,
  execute: ({ to }) => {
    appendFileSync(letters, `Dear ${to}\n`);
    if (isVictim) process.kill(process.pid, "SIGKILL");
    return { posted: true };
  },
});
// #endregion tool

const secretary = agent({
  name: "secretary",
  model: scripted([{ calls: [{ tool: "post-letter", input: { to: "Ada" } }] }, "Posted."]),
  instructions: "Write letters.",
  tools: [postLetter],
});

if (!isVictim) spawnSync(process.execPath, [...process.execArgv, import.meta.filename, folder], { stdio: "inherit" });

const store = sqlite(join(folder, "runs.db"));
await using runtime = await createRuntime({ agents: [secretary], store, leaseMs: 300 });
const run = await runtime.start(secretary, "Write to Ada", { key: "letter-1" });
await run.idle();

// #region decide
const [ticket] = await runtime.tickets.list({ tool: postLetter, status: "open" });
if (ticket?.kind === "unknown-outcome") {
  console.log(ticket.prompt);
  // Until then the lost attempt could still be running, and an answer would be a guess.
  await sleep((ticket.decidableFrom ?? 0) - Date.now() + 10);
  await ticket.markDone({ posted: true }, { by: "ana@example.com" }); // or markFailed, runAgain, cancelRun
}
// #endregion decide

const count = readFileSync(letters, "utf8").trimEnd().split("\n").length;
console.log(`${count} letter posted; the run says: ${await run.output()}`);
