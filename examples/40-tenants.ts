// Two tenants on one store: what belongs to one is not there for the other, whatever ids and cursors it holds.
// expect: bee sees 0 runs and 0 events of ant; ant's run: run-not-found, ant's cursor: invalid-cursor
import { agent, createRuntime, isHoldfastError, memory } from "holdfast";
import { scripted } from "holdfast/testing";

const clerk = agent({ name: "clerk", model: scripted(["Done."]), instructions: "Help." });

// #region scopes
const store = memory(); // or sqlite(…), postgres(…)
await using ant = await createRuntime({ store, scope: "ant", agents: [clerk] });
await using bee = await createRuntime({ store, scope: "bee", agents: [clerk] });

const run = await ant.start(clerk, "Hello from ant");
// #endregion scopes
await run.result();
let cursor = "";
for await (const event of run.watch()) if ("cursor" in event) cursor = event.cursor;

async function codeOf(act: () => Promise<unknown>): Promise<string> {
  return act().then(
    () => "allowed",
    (cause: unknown) => (isHoldfastError(cause) ? cause.code : String(cause)),
  );
}

async function seenBy(events: AsyncIterable<unknown>): Promise<number> {
  let seen = 0;
  for await (const _event of events) seen += 1;
  return seen;
}

// #region foreign
const theirs = await codeOf(() => bee.runs.get(run.id).result()); // run-not-found, as for an id that never was
const own = await bee.start(clerk, "Hello from bee");
const cursors = await codeOf(() => seenBy(own.watch({ after: cursor }))); // invalid-cursor
// #endregion foreign
await own.result();

const runs = (await bee.runs.list()).items.filter((each) => each.run === run.id).length;
const stop = new AbortController();
let events = 0;
for await (const event of bee.watch({}, { signal: stop.signal })) {
  if ("run" in event && event.run === run.id) events += 1;
  if (event.type === "run-ended") stop.abort();
}
console.log(`bee sees ${runs} runs and ${events} events of ant; ant's run: ${theirs}, ant's cursor: ${cursors}`);
