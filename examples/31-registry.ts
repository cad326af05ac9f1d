// Agents are rows in a registry. A new row can be started at once, without a new process.
// expect: greeter: Hello! · critic: Hmm.
import { type Agent, type AgentResolver, agent, createRuntime } from "holdfast";
import { scripted } from "holdfast/testing";

// #region registry
interface Row {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  readonly says: string;
}

const rows: Row[] = [{ name: "greeter", version: "1", instructions: "Greet.", says: "Hello!" }]; // your database

function define({ name, version, instructions, says }: Row): Agent {
  return agent({ name, version, instructions, model: scripted([says]) });
}

const resolver: AgentResolver = {
  names: () => [...new Set(rows.map((row) => row.name))],
  async resolve(wanted) {
    const named = rows.filter((row) => row.name === wanted.agent);
    const row = named.find(({ version }) => version === wanted.version) ?? named.at(-1);
    return row && define(row);
  },
};
// #endregion registry

// #region start
await using runtime = await createRuntime({ resolver });
const greeting = await runtime.run("greeter", "Good morning");
rows.push({ name: "critic", version: "1", instructions: "Doubt.", says: "Hmm." });
const doubt = await runtime.run("critic@1", "It works");
// #endregion start

const said = (result: typeof greeting): unknown => (result.outcome === "completed" ? result.output : result.outcome);
console.log(`greeter: ${said(greeting)} · critic: ${said(doubt)}`);
