// Threads: create one with history, list, read, name, branch, delete.
// expect: 4 messages here, 2 in the branch; deleted 2 threads with 3 runs
import { agent, createRuntime, type Message } from "holdfast";
import { scripted } from "holdfast/testing";

const guide = agent({
  name: "guide",
  instructions: "Show people around the harbour.",
  model: scripted([({ messages }) => `I have read ${messages.length} messages.`]),
});
await using runtime = await createRuntime({ agents: [guide] });

// #region create
const exported = `[
  { "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Where is the lighthouse?" }] },
  { "id": "m2", "role": "assistant", "parts": [{ "type": "text", "text": "At the end of the pier." }] }
]`;
const history: readonly Message[] = JSON.parse(exported); // checked when the thread is created
const thread = await runtime.threads.create({ title: "Harbour", metadata: { customer: "c-7" }, messages: history });
// #endregion create

// #region start
const run = await runtime.start(guide, "And when is it open?", { thread: thread.id });
console.log(await run.output()); // the agent has read the history
// #endregion start

// #region messages
const { items } = await runtime.threads.messages(thread.id, { order: "oldest" });
for (const { position, run: by, message } of items) console.log(position, message.role, by.slice(-6));
// #endregion messages

// #region change
await runtime.threads.change(thread.id, { title: "Harbour tour", metadata: { customer: "c-7", done: true } });
// #endregion change

// #region branch
const firstTwo = items.slice(0, 2).map(({ message }) => message);
const branch = await runtime.threads.create({ parent: thread.id, title: "Another way", messages: firstTwo });
const children = await runtime.threads.list({ parent: thread.id });
console.log(children.items.map(({ title }) => title).join(", "));
// #endregion branch

// #region list
let cursor: string | undefined;
do {
  const page = await runtime.threads.list({ limit: 1, ...(cursor && { cursor }) }); // newest first
  for (const { title, messages, latestRun } of page.items) console.log(title, messages, latestRun?.slice(-6));
  cursor = page.next;
} while (cursor !== undefined);
// #endregion list

// #region delete
const gone = await runtime.threads.delete(thread.id, { children: "cascade" });
// #endregion delete

const kept = `${items.length} messages here, ${branch.messages} in the branch`;
console.log(`${kept}; deleted ${gone.threads} threads with ${gone.runs} runs`);
