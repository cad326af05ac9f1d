// Several models as one: the first is overloaded, so the same step is answered by the next one.
// expect: Sunny, says backup-model; large-model is open.
import { agent, createRuntime, pool } from "holdfast";
import { scripted } from "holdfast/testing";

// Stand-ins for two providers, so that this runs offline.
const large = scripted([{ error: "model-overloaded", message: "529 overloaded" }], { name: "large-model" });
const backup = scripted(["Sunny"], { name: "backup-model" });

// #region pool
const models = pool([
  { model: large, weight: 3 }, // three of four threads are at home here …
  { model: scripted(["Cloudy"], { name: "other-model" }), weight: 1 }, // … and one here
  { model: backup, failoverOnly: true }, // asked when the others cannot be
]);
// #endregion pool

// #region options
const careful = pool([large, { model: backup, failoverOnly: true }], {
  breaker: { failures: 1, restMs: 60_000 }, // one failure, and it is left alone for a minute
});
// #endregion options

const forecaster = agent({ name: "forecaster", instructions: "Tell the weather.", model: careful });

await using runtime = await createRuntime({ agents: [forecaster] });
const run = await runtime.start(forecaster, "How is it?");
const answer = await run.output();

// #region who
let who = "";
for await (const event of run.watch()) {
  if (event.type === "effect-settled" && event.result.kind === "done") who = event.result.answeredBy?.model ?? "";
}
// #endregion who

// #region health
const resting = careful.health().find(({ state }) => state === "open"); // looking changes nothing
// #endregion health
console.log(models.description.model); // scripted/large-model | scripted/other-model | scripted/backup-model
console.log(`${answer}, says ${who}; ${resting?.model} is ${resting?.state}.`);
