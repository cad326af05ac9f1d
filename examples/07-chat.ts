// A chat that survives Ctrl-C. Stop it in the middle of an answer and start it again with the same file:
// npx node --conditions=holdfast-source examples/07-chat.ts chat.db
// expect: 2 processes, 1 conversation: 2 questions, 2 answers
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { agent, createRuntime, type Message, type WatchEvent } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";

const file = process.argv[2];
const thread = "chat";

// #region agent
const companion = agent({
  name: "companion",
  instructions: "Be good company.",
  // Stands for a real model: it writes a few letters at a time.
  model: scripted([
    ({ messages }) => {
      const questions = messages.filter(({ role }) => role === "user").map(textOf);
      const text = `You said "${questions.at(-1)}". I have an answer to everything; this is number ${questions.length}.`;
      return { text, pieces: 4, pauseMs: process.stdout.isTTY ? 120 : 10 };
    },
  ]),
});
// #endregion agent

if (file === undefined) await demonstrate();
else await chat(file);

// #region chat
async function chat(path: string): Promise<void> {
  await using runtime = await createRuntime({ agents: [companion], store: sqlite(path), leaseMs: 300 });

  // What was said before, run by run. One that Ctrl-C has cut off goes on here and is shown live, by the same line.
  const { items } = await runtime.runs.list({ thread, limit: 10 });
  for (const { run } of items.toReversed()) await show(runtime.runs.get(run).watch({ until: "idle" }), "with question");

  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: "you: " });
  terminal.on("SIGINT", () => process.exit(130)); // no goodbye: what was said is in the file already
  let isOpen = true;
  terminal.on("close", () => {
    isOpen = false; // Ctrl-D, perhaps in the middle of an answer
  });
  terminal.prompt();
  for await (const line of terminal) {
    if (!process.stdin.isTTY) console.log(line);
    if (line.trim() !== "") {
      const run = await runtime.start(companion, line, { thread, whenBusy: "supersede" });
      await show(run.watch({ until: "idle" }));
    }
    if (isOpen) terminal.prompt();
  }
}
// #endregion chat

// #region show
/** Pieces are a preview and may be lost; the message itself is not. So each one writes only what is missing so far. */
async function show(events: AsyncIterable<WatchEvent>, mode?: "with question"): Promise<void> {
  let written = "";
  const write = (text: string): void => {
    process.stdout.write(text.slice(written.length));
    written = text.endsWith("\n") ? "" : text;
  };
  for await (const event of events) {
    switch (event.type) {
      case "run-created":
        if (mode) write(`you: ${event.input.map(textOf).join(" ")}\n`);
        break;
      case "message-partial": // for whoever comes in the middle of a message
        write(event.text);
        break;
      case "text-delta":
        write(written + event.text);
        break;
      case "message-retracted": // this attempt failed; the next one begins anew
        write(`${written} …\n`);
        break;
      case "message-appended":
        if (event.message?.role === "assistant") write(`${textOf(event.message)}\n\n`);
        break;
      case "run-waiting":
        write(`(waiting: ${event.reasons.join(", ")})\n\n`);
        break;
      case "run-ended":
        if (event.outcome.kind !== "completed") write(`(${event.outcome.kind})\n\n`);
    }
  }
}

function textOf({ parts }: Message): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
// #endregion show

/** Two processes of this program, one after the other; the first is interrupted in the middle of its answer. */
async function demonstrate(): Promise<void> {
  const path = join(mkdtempSync(join(tmpdir(), "holdfast-chat-")), "chat.db");
  const first = open(path);
  first.stdin.write("Hello\n");
  await new Promise<void>((resolve) => first.stdout.on("data", (piece) => String(piece).includes("an") && resolve()));
  first.kill("SIGINT");
  await once(first, "close");
  console.log("^C\n\n--- that process is gone; this is the next one");

  const second = open(path);
  second.stdin.end("And again\n");
  await once(second, "close");

  await using runtime = await createRuntime({ store: sqlite(path) });
  const { items } = await runtime.threads.messages(thread);
  const count = (role: Message["role"]): number => items.filter(({ message }) => message.role === role).length;
  console.log(`2 processes, 1 conversation: ${count("user")} questions, ${count("assistant")} answers`);
}

function open(path: string) {
  const args = [...process.execArgv, import.meta.filename, path];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdout.pipe(process.stdout);
  return child;
}
