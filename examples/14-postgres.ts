// From SQLite to Postgres: what was begun on SQLite ends there, what is new starts on Postgres, conversations come along.
// expect: I have read 3 messages. The conversation has 4.
import { agent, createRuntime, type Message, type Runtime } from "holdfast";
import { postgres } from "holdfast/postgres";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { startServer } from "./server/postgres-server.ts";

await using server = await startServer(); // HOLDFAST_POSTGRES_URL, or an embedded one for this example
const url = server.url;

const guide = agent({
  name: "guide",
  instructions: "Show people around the harbour.",
  model: scripted([({ messages }) => `I have read ${messages.length} messages.`]),
});

// #region sqlite
const old = await createRuntime({ agents: [guide], store: sqlite("runs.db") });
// #endregion sqlite
const before = await old.start(guide, "Where is the lighthouse?", { thread: "harbour" });
await before.output();

// #region postgres
const runtime = await createRuntime({ agents: [guide], store: postgres(url) });
// #endregion postgres

// #region options
const second = await createRuntime({
  agents: [guide],
  store: postgres({ url, schema: "holdfast", connections: 4, prepare: true, notifyUrl: url }),
});
// #endregion options

// #region drain
/** True when nothing is left that could still move. Runs that wait need their answer first: give it through `old`. */
async function isDrained(from: Runtime): Promise<boolean> {
  for (const status of ["created", "running", "waiting"] as const) {
    if ((await from.runs.count({ status })) > 0) return false;
  }
  return true;
}

// From now on everything starts through `runtime`. `old` only ends what it has.
while (!(await isDrained(old))) await new Promise((resolve) => setTimeout(resolve, 1_000));
// #endregion drain

// #region thread
/** The messages of a conversation as the history of a new one with the same id. Its runs and their journals stay behind. */
async function copyThread(id: string): Promise<void> {
  const messages: Message[] = [];
  let cursor: string | undefined;
  do {
    const page = await old.threads.messages(id, { order: "oldest", ...(cursor && { cursor }) });
    messages.push(...page.items.map(({ message }) => message));
    cursor = page.next;
  } while (cursor !== undefined);
  await runtime.threads.create({ id, messages });
}
// #endregion thread

await copyThread("harbour");
await old.close();

const after = await second.start(guide, "And when is it open?", { thread: "harbour" }); // either process may run it
const answer = await after.output();
const { items } = await runtime.threads.messages("harbour");
await Promise.all([runtime.close(), second.close()]);
console.log(`${answer} The conversation has ${items.length}.`);
