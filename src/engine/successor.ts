/**
 * The run that reads what another has left unread. It is born in the commit that ends the other (S8), so that between
 * the two no input is lost and none is read twice.
 */
import type { EntryBody, RunCreated, RunEnded } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { type RunId, successorKey } from "../domain/ids.ts";
import type { Message } from "../domain/message.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Birth } from "../ports/birth.ts";
import type { EngineDeps } from "./deps.ts";
import { readManifest } from "./read-manifest.ts";
import { persist } from "./retry.ts";
import type { Transcript } from "./transcript.ts";

interface Ended {
  readonly entries: readonly EntryBody[];
  readonly state: RunState;
}

interface Heritage {
  readonly transcript: Transcript;
  readonly deps: EngineDeps;
  readonly signal: AbortSignal;
}

/** Undefined when the commit ends nothing, or nothing was left unread. */
export async function successorOf({ entries, state }: Ended, heritage: Heritage): Promise<Birth | undefined> {
  const successor = endOf(entries)?.successor;
  if (successor === undefined) return undefined;
  const { deps, signal, transcript } = heritage;
  const { run } = state.created.identity;
  const patience = { clock: deps.clock, logger: deps.logger, signal };
  const { declared: manifest } = await persist(`Reading the manifest of run ${run}`, patience, () =>
    readManifest(state, deps.store),
  );
  const input = state.inbox.map(({ seq }) => transcript.received(seq) ?? lostInput(run, seq));
  const entry = createdAfter(state, { successor, input, deps });
  const asked = { after: run, input: input.map(({ id }) => id) };
  const requestHash = deps.hash.sha256(deps.hash.canonical(asked));
  return { key: entry.request.key, requestHash, entry, manifest };
}

function endOf(entries: Ended["entries"]): RunEnded | undefined {
  const last = entries.at(-1);
  return last?.type === "run-ended" ? last : undefined;
}

function lostInput(run: RunId, seq: number): never {
  throw new HoldfastError("entry-unreadable", `Run ${run}: the input of entry ${seq} is not at hand`);
}

interface Born {
  readonly successor: RunId;
  readonly input: readonly Message[];
  readonly deps: EngineDeps;
}

/** As the ended run was made, save for who asked and what for; its time begins anew. */
function createdAfter({ created, manifest: { fingerprint } }: RunState, { successor, input, deps }: Born): RunCreated {
  const { identity, budget, context, priority, sinks } = created;
  const { run, rootRun } = identity;
  const { overrides } = created.request;
  const key = successorKey(run, (text) => deps.hash.sha256(text));
  return {
    type: "run-created",
    identity: {
      ...identity,
      run: successor,
      rootRun: rootRun === run ? successor : rootRun,
      origin: "internal",
      mode: "internal_wake",
    },
    request: {
      ...{ origin: "internal", key, inputIds: input.map(({ id }) => id), inputCount: input.length },
      ...(overrides ? { overrides } : {}),
    },
    input,
    manifest: { fingerprint },
    budget,
    ...(budget.wallTimeMs === undefined ? {} : { deadlineAt: deps.clock.now() + budget.wallTimeMs }),
    ...(priority === undefined ? {} : { priority }),
    ...(context === undefined ? {} : { context }),
    ...(sinks === undefined ? {} : { sinks }),
  };
}
