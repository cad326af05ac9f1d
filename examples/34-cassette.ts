// Record what a model really said, replay it without a network, and see what a changed prompt does.
// expect: Step 1 of agent forecaster asks what the cassette recordings/forecast.jsonl has no answer to: instructions differs from call 1 (agent forecaster, step 1): recorded "Tell the weather.", now "Tell the news.". If the change is meant, record again with mode "record"; if not, undo it
import { agent, createRuntime, type Model } from "holdfast";
import { cassette, scripted } from "holdfast/testing";

// A stand-in for a provider, so that this runs offline.
const provider = scripted(["Sunny, 24 degrees."], { name: "large-model" });

// #region cassette
const file = "recordings/forecast.jsonl";
const model = cassette(provider, { file }); // records when there is no recording, replays when there is one
const forecaster = agent({ name: "forecaster", instructions: "Tell the weather.", model });
// #endregion cassette

async function ask(answerer: typeof forecaster): Promise<string> {
  await using runtime = await createRuntime({ agents: [answerer] });
  const result = await runtime.run(answerer, "How is it in Rome?");
  return result.outcome === "failed" ? result.error.message : String(result.outcome === "completed" && result.output);
}

console.log(await ask(forecaster)); // asks the provider, and writes it down

const nobody: Model = {
  description: provider.description,
  call: () => {
    throw new Error("There is no network here");
  },
};

// #region replay
const replayed = cassette(nobody, { file, mode: "replay" }); // only the recording answers
console.log(await ask(agent({ name: "forecaster", instructions: "Tell the weather.", model: replayed })));
// #endregion replay

// #region changed
console.log(await ask(agent({ name: "forecaster", instructions: "Tell the news.", model: replayed })));
// #endregion changed
