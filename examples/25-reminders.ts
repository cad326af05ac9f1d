// After a tool has changed something, the model is reminded of what belongs to it.
// expect: The model read: You have changed a file. Run the tests before you say that you are done.
import { agent, createRuntime, textOf, tool } from "holdfast";
import { reminders } from "holdfast/plugins";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const writeFile = tool({
  name: "write_file",
  description: "Write a file",
  input: z.object({ path: z.string(), text: z.string() }),
  effect: "idempotent",
  execute: ({ path }) => ({ written: path }),
});

// #region agent
const coder = agent({
  name: "coder",
  model: scripted([
    { calls: [{ tool: "write_file", input: { path: "src/sum.ts", text: "…" } }] },
    ({ messages }) => `The model read: ${messages.map(textOf).at(-1)}`,
  ]),
  instructions: "Write code.",
  tools: [writeFile],
  plugins: [
    reminders({
      rules: [
        {
          name: "tests",
          tool: 'write_file(path ~ "src/**")', // a tool pattern: this tool, with a path below src/
          output: { status: "value" }, // and only when it has worked
          message: {
            text: "You have changed a file. Run the tests before you say that you are done.",
            target: "suffix", // after the newest message
            cooldown: 3, // not again for three steps
          },
        },
      ],
    }),
  ],
});
// #endregion agent

await using runtime = await createRuntime({ agents: [coder] });
const run = await runtime.start(coder, "Write a sum", { thread: "t-1" });
const said = await run.output();

// #region thread
const { items } = await runtime.threads.messages("t-1"); // what was said to the model is no message of the thread
// #endregion thread
if (items.some(({ message }) => textOf(message).startsWith("You have changed"))) throw new Error("it is in the thread");

console.log(said);
