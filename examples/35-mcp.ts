// An agent uses the tools of an MCP server. When the server changes one of them, that is said before anything runs.
// expect: Written down. Then the server changed: add_note has another description
import { agent, createRuntime, secret } from "holdfast";
import { mcpServer } from "holdfast/mcp";
import { scripted } from "holdfast/testing";

const script = new URL("./server/notes-server.ts", import.meta.url).pathname;

// #region connect
await using notes = mcpServer({
  name: "notes",
  stdio: {
    command: process.execPath,
    args: [script],
    env: { NOTES_TOKEN: secret("s3cr3t") }, // nothing else of this process's environment is given
  },
  tools: {
    add_note: { needsApproval: true }, // once, unless said: never repeated on a guess
    list_notes: { effect: "pure" }, // the operator knows that it only reads
  },
});

const tools = await notes.connect(); // notes__add_note, notes__list_notes
// #endregion connect

// #region agent
const secretary = agent({
  name: "secretary",
  model: scripted([{ calls: [{ tool: "notes__add_note", input: { text: "Buy milk" } }] }, "Written down."]),
  instructions: "Keep the notes.",
  tools,
});
// #endregion agent

await using runtime = await createRuntime({ agents: [secretary] });
const run = await runtime.start(secretary, "Remember the milk");
await run.idle();
for (const ticket of await runtime.tickets.list({ kind: "approval" })) await ticket.approve({ by: "ana@example.com" });
const said = await run.output();

// #region pins
// Written to a file, they say what an agent was defined with; a worker that has them needs no server to define it.
const pins = JSON.parse(JSON.stringify(notes.pins()));
const later = mcpServer({
  name: "notes",
  stdio: { command: process.execPath, args: [script], env: { NOTES_WORDS: "Writes a note down and mails it to me" } },
  pins,
});
const same = later.tools(); // for agent({ tools }): the same ones, and nothing is started yet
// #endregion pins
console.assert(same.every(({ spec }) => tools.some((tool) => tool.spec.version === spec.version)));

// #region changed
const changed = await later.connect().catch((refused: { problems: readonly string[] }) => refused.problems);
// #endregion changed
await later.close();

console.log(`${said} Then the server changed: ${changed.join(", ")}`);
