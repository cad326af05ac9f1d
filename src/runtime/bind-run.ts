/**
 * Which code takes a run up, when a process has several versions of an agent or another one than the run was started with.
 *
 * B1 A run whose fingerprint an agent here has is bound to that agent, whatever its version says.
 * B2 Otherwise the agent of the run's version, or the last of its name, says by its `onUpgrade` what is done. With a
 *    resolver it is the one that the resolver answers.
 * B3 What cannot be bound is said in words that name everything that is missing, or everything that differs.
 * B4 A run that was started with another model than its agent's, or whose steps name one, waits for a worker that has it.
 */
import type { DeclaredManifest } from "../domain/declared-manifest.ts";
import { diffManifests, showDifference } from "../domain/manifest-diff.ts";
import type { Making } from "../domain/restore-agent.ts";
import type { Binding, RunToBind } from "../engine/deps.ts";
import { nobody } from "../engine/nobody.ts";
import type { AgentDirectory, Found, Known } from "./agent-directory.ts";
import { createFindOther } from "./other-models.ts";
import type { FindRoute } from "./routed-models.ts";

interface Finding extends Making {
  readonly findRoute: FindRoute;
}

/** Before its models are looked for. */
type Bound = Omit<Binding, "otherModel">;

export function createBinder(agents: AgentDirectory, by: Finding): (run: RunToBind) => Promise<Binding> {
  return async (run) => {
    const found = await agents.toBind(run);
    const bound =
      found.kind === "missing" ? { agent: nobody(run.agent), missing: found.why } : await bind(found, run, by);
    const binding = withModels(bound, run, by);
    const { againMs } = found;
    return binding.missing === undefined || againMs === undefined ? binding : { ...binding, againMs };
  };
}

async function bind({ known }: Found & { readonly kind: "found" }, run: RunToBind, by: Making): Promise<Bound> {
  if (known.fingerprint === run.fingerprint) return { agent: known.code }; // B1
  return upgraded(known, await run.declared(), by); // B2
}

/** B4. */
function withModels(bound: Bound, { budget, model, stepModels }: RunToBind, { findRoute }: Finding): Binding {
  const { agent } = bound;
  const { provider, shown, output } = agent;
  const otherModel = createFindOther({ provider, tools: shown.length, output: output?.spec, budget }, findRoute);
  if (bound.missing !== undefined) return { ...bound, otherModel };
  for (const name of [...(model === undefined ? [] : [model]), ...stepModels]) {
    const other = otherModel(name);
    if ("problem" in other) return { agent: nobody(agent.name), otherModel, missing: unhad(name, other.problem) };
  }
  const own = model === undefined ? undefined : otherModel(model);
  return own && "model" in own
    ? { ...bound, agent: { ...agent, model: own.model }, otherModel }
    : { ...bound, otherModel };
}

function unhad(name: string, problem: string): string {
  return `This run asks for model ${name} instead of its agent's: ${problem}. Start a worker that has it, or cancel the run`;
}

function upgraded({ code, fingerprint }: Known, before: DeclaredManifest, by: Making): Bound {
  const { name, declared, onUpgrade } = code;
  switch (onUpgrade) {
    case "move":
      return { agent: code, amend: { before, fingerprint, declared } };
    case "refuse":
      return { agent: nobody(name), missing: refusal(name, before, declared) };
    case "pinned": {
      const { agent, missing } = code.pin(before, by);
      return missing.length === 0 ? { agent } : { agent: nobody(name), missing: lack(before, missing) };
    }
    default:
      return onUpgrade satisfies never;
  }
}

const mostShown = 12;

/** B3. */
function refusal(name: string, before: DeclaredManifest, now: DeclaredManifest): string {
  const lines = diffManifests(before, now).map(showDifference);
  const more = lines.length > mostShown ? [`and ${lines.length - mostShown} more`] : [];
  const differences = [...lines.slice(0, mostShown), ...more].join("; ");
  return `Agent ${name} is not what this run was started with, and is not to be used instead (onUpgrade: "refuse"): ${differences}. Start a worker that has agent ${name} as it was, or cancel the run`;
}

function lack({ agent, version }: DeclaredManifest, missing: readonly string[]): string {
  return `This run was started with version ${version} of agent ${agent}, of which this worker does not have ${missing.join(", ")}. Start a worker that has it, or cancel the run`;
}
