// Rules say which calls run, which a person decides and which are refused; an answer can be remembered for a while.
// expect: The model read: read notes, forbidden, sent to ada, sent to ada
import { agent, createRuntime, type ModelRequest, tool } from "holdfast";
import { permissions } from "holdfast/plugins";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const read = tool({
  name: "read_file",
  description: "Read a file",
  input: z.object({ path: z.string() }),
  effect: "pure",
  execute: ({ path }) => `read ${path}`,
});
const send = tool({
  name: "send",
  description: "Send a message",
  input: z.object({ to: z.string(), text: z.string() }),
  effect: "idempotent",
  execute: ({ to }) => `sent to ${to}`,
});
const wipe = tool({
  name: "wipe",
  description: "Wipe a disk",
  input: z.object({ disk: z.string() }),
  execute: ({ disk }) => `wiped ${disk}`,
});

// #region rules
const rules = permissions({
  default: "ask", // for calls that no rule is about
  rules: [
    { tool: "read_*", behavior: "allow" },
    { tool: 'read_file(path ~ "/etc/*")', behavior: "deny", reason: "system files are none of our business" },
    { tool: "send", behavior: "ask", reason: "somebody outside will read it" },
    { tool: "wipe", behavior: "deny" }, // the model does not even see it
  ],
  remember: { scopes: ["run", "thread"], maxMs: 24 * 60 * 60_000 },
});
// #endregion rules

const calls = [
  { tool: "read_file", input: { path: "notes" } },
  { tool: "read_file", input: { path: "/etc/passwd" } },
  { tool: "send", input: { to: "ada", text: "Hello" } },
  { tool: "send", input: { to: "ada", text: "Hello again" } },
];

const model = scripted([
  ({ tools }) => {
    console.log(`The model sees: ${tools.map(({ name }) => name).join(", ")}`);
    return { calls: calls.slice(0, 1) };
  },
  ...calls.slice(1).map((call) => ({ calls: [call] })),
  (request) => `The model read: ${results(request).join(", ")}`,
]);

// #region agent
const clerk = agent({
  name: "clerk",
  instructions: "Keep the post in order.",
  model,
  tools: [read, send, wipe],
  plugins: [rules],
});
// #endregion agent

await using runtime = await createRuntime({ agents: [clerk], store: sqlite("permissions.db") });
const run = await runtime.start(clerk, "Answer Ada");
await run.idle();

// #region approve
for (const ticket of await runtime.tickets.list({ tool: send, run: run.id, status: "open", kind: "approval" })) {
  console.log(ticket.prompt);
  await ticket.approve({ by: "ana@example.com", value: { remember: "run", what: "tool", forMs: 10 * 60_000 } });
}
// #endregion approve

console.log(await run.output()); // the second message was not asked about

function results({ messages }: ModelRequest): string[] {
  const parts = messages.flatMap((message) => message.parts).filter((part) => part.type === "tool-result");
  return parts.map(({ result }) => (result.kind === "value" ? String(result.value) : "forbidden"));
}
