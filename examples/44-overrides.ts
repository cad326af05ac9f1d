// One agent, asked otherwise: by a run for itself, and by a plugin for one step.
// expect: small said "Short.", then large said "Checked."
import { agent, createRuntime, plugin, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

// Stand-ins for a provider's models, so that this runs offline.
const answers = [{ text: "Short.", calls: [{ tool: "check" }] }, "Checked."];
const prices = { inputPerMillion: 1, outputPerMillion: 5 };
const acme = (name: string) => scripted(answers, { name, description: { prices } });

const check = tool({
  name: "check",
  description: "Checks",
  input: z.object({}),
  effect: "pure",
  execute: () => "fine",
});

// #region step
const secondLook = plugin({
  name: "second-look",
  create: () => ({
    hooks: {
      "before-model": ({ step }) =>
        step === 2 ? { type: "patch-request", model: "large", reasoningEffort: "high" } : undefined,
    },
  }),
});
// #endregion step

const writer = agent({
  name: "writer",
  instructions: "Write.",
  model: "acme/medium",
  tools: [check],
  plugins: [secondLook()],
  budget: { usd: 0.5 },
});

await using runtime = await createRuntime({ agents: [writer], providers: { acme } });

// #region run
const run = await runtime.start(writer, "Write a line.", {
  overrides: {
    model: "small", // of the agent's own provider; "other/model" is a route among the runtime's providers
    temperature: 0.2,
    maxOutputTokens: 300,
    settings: { seed: 7 }, // whatever else, by the provider's own names
  },
});
// #endregion run
await run.result();

// #region recorded
const asked = (await run.status()).request.overrides; // { model: "acme/small", temperature: 0.2, … }
const calls: string[] = [];
for await (const event of run.watch()) {
  if (event.type === "effect-intended" && event.kind === "model") calls.push(event.overrides?.model ?? "its own");
}
console.log(asked?.model, calls); // acme/small [ 'acme/small', 'acme/large' ]
// #endregion recorded

const said: string[] = [];
for await (const event of run.watch()) {
  if (event.type !== "message-appended" || event.message?.role !== "assistant") continue;
  for (const part of event.message.parts) if (part.type === "text") said.push(part.text);
}
const [first, second] = calls.map((route) => route.split("/")[1]);
console.log(`${first} said "${said[0]}", then ${second} said "${said[1]}"`);
