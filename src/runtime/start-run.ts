/** start: check everything, write run-created in one transaction, tell. A returned handle is a durable run. */
import type { Agent } from "../domain/agent.ts";
import type { RunCreated } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { parseId, type RunId, type ThreadId } from "../domain/ids.ts";
import { type JsonValue, messageOf, toJson } from "../domain/json.ts";
import type { Message } from "../domain/message.ts";
import { overrideProblems } from "../domain/overrides.ts";
import { Problems } from "../domain/problems.ts";
import { priorities } from "../domain/run.ts";
import { type SchemaResult, type StandardSchema, showIssues } from "../domain/standard-schema.ts";
import type { Birth } from "../ports/birth.ts";
import type { NewContent } from "../ports/content-store.ts";
import { anyone } from "./act-options.ts";
import { nameOf } from "./agent-directory.ts";
import { busyRule, joinActive, makesWay, tellReplaced } from "./busy-thread.ts";
import { type Desk, written } from "./desk.ts";
import { keepContents } from "./given-files.ts";
import { checkedOverrides } from "./other-models.ts";
import { tell } from "./outside-door.ts";
import { readInput, storedInput } from "./read-input.ts";
import { keyConflict } from "./refusals.ts";
import type { StartInput, StartOptions } from "./runtime.ts";

const optionNames = ["thread", "key", "context", "whenBusy", "by", "priority", "startAt", "overrides"];
const latestTime = 8_640_000_000_000_000;
const choices = ["queue", "steer", "interrupt", "supersede", "reject"];

export interface StartRequest {
  readonly input: StartInput;
  readonly options: StartOptions;
  readonly forkedFrom?: RunCreated["forkedFrom"];
  /** Of a fork: its original's, which the same agent has checked already. */
  readonly context?: { readonly value: JsonValue | undefined; readonly isChecked: boolean };
}

export async function startRun(agent: Agent<unknown> | string, request: StartRequest, desk: Desk): Promise<RunId> {
  const prepared = await prepare(agent, request, desk);
  await keepContents(prepared.contents, desk);
  let { birth } = prepared;
  const { run } = birth.entry.identity;
  let ending: RunId | undefined;
  for (;;) {
    const answer = await written(`Starting run ${run}`, desk, () => desk.store.create(birth));
    switch (answer.kind) {
      case "created":
        tell({ scope: desk.scope, run, seq: 1 }, desk);
        if (answer.queued) await tellReplaced(birth, desk);
        return run;
      case "existing":
        return answer.run;
      case "conflict":
        throw keyConflict(birth.key, answer.run);
      case "unwanted":
      case "run-exists":
        throw new HoldfastError("run-exists", `There is already a run ${run}`, { details: { run } });
      case "busy": {
        const { active } = answer;
        const start = { birth, active, choice: request.options.whenBusy };
        if (makesWay(start, ending)) {
          birth = { ...birth, whenBusy: "queue" };
          break;
        }
        const joined = await joinActive(start, desk);
        if (joined.kind === "joined") return joined.run;
        if (joined.kind === "ending") ending = active.run;
        break;
      }
      default:
        return answer satisfies never;
    }
  }
}

interface Prepared {
  readonly birth: Birth;
  /** What its input refers to and is not put yet. */
  readonly contents: readonly NewContent[];
}

async function prepare(wanted: Agent<unknown> | string, request: StartRequest, desk: Desk): Promise<Prepared> {
  const name = nameOf(wanted, "start(agent, input)");
  const { input, options, forkedFrom } = request;
  const problems = new Problems(options, optionNames);
  problems.oneOf("whenBusy", choices);
  problems.optional("by", (by) => typeof by === "string" && by !== "", "must be a non-empty string");
  problems.integer("priority", Math.min(...priorities), Math.max(...priorities));
  problems.integer("startAt", 0, latestTime);
  if (options?.overrides !== undefined) problems.include("overrides", overrideProblems(options.overrides));
  problems.refuse("invalid-options", `Run of ${name} cannot be started`);
  const run = parseId<RunId>("run id", desk.ids.next());
  const thread = parseId<ThreadId>("thread", options.thread === undefined ? desk.ids.next() : options.thread);
  const key = options.key === undefined ? `run:${run}` : parseId<string>("key", options.key);
  // Before anything is waited for: who gave bytes may change them.
  const { messages, contents } = forkedFrom ? storedInput(input as readonly Message[]) : readInput(input, desk);
  const { agent, manifest } = await desk.agents.toStart({ agent: wanted, run, scope: desk.scope });
  const overrides = checkedOverrides(options.overrides, agent, desk);
  const context = await contextOf(agent, request);
  const { fingerprint, declared } = manifest;
  const { priority, startAt } = options;
  const begins = Math.max(desk.clock.now(), startAt ?? 0);
  const entry: RunCreated = {
    type: "run-created",
    identity: {
      scope: desk.scope,
      run,
      thread,
      agent: agent.name,
      rootRun: run,
      origin: "user",
      mode: startAt === undefined ? "foreground" : "scheduled",
      adapter: "internal",
    },
    request: {
      ...{ origin: "user", key, inputIds: messages.map((each) => each.id), inputCount: messages.length },
      ...(overrides ? { overrides } : {}),
    },
    input: messages,
    manifest: { fingerprint },
    budget: agent.budget,
    ...(agent.budget.wallTimeMs === undefined ? {} : { deadlineAt: begins + agent.budget.wallTimeMs }),
    ...(startAt === undefined ? {} : { startAt }),
    ...(priority === undefined || priority === 0 ? {} : { priority }),
    ...(context === undefined ? {} : { context }),
    ...(agent.sinks.length === 0 ? {} : { sinks: agent.sinks }),
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
  };
  const asked = {
    agent: agent.name,
    thread: options.thread ?? null,
    context: context ?? null,
    input: contentOf(messages),
    ...(overrides ? { overrides: overrides as JsonValue } : {}),
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
  };
  const requestHash = desk.hash.sha256(desk.hash.canonical(asked));
  const whenBusy = busyRule(options.whenBusy);
  const by = options.by ?? anyone;
  return { birth: { key, requestHash, entry, manifest: declared, whenBusy, by }, contents };
}

async function contextOf(agent: Agent<unknown>, { options, context }: StartRequest): Promise<JsonValue | undefined> {
  if (!context) return checkContext(agent, options.context);
  if (context.isChecked) return context.value;
  return agent.context ? checkContext(agent, context.value) : undefined;
}

async function checkContext(agent: Agent<unknown>, context: unknown): Promise<JsonValue | undefined> {
  if (!agent.context) {
    if (context === undefined) return undefined;
    throw new HoldfastError("invalid-input", `Agent ${agent.name} takes no context; define it with a context schema`);
  }
  const result = await judgeContext(agent.name, agent.context, context);
  if (result.issues) {
    const problems = [showIssues(result.issues)];
    throw new HoldfastError("invalid-input", `The context does not fit agent ${agent.name}`, { problems });
  }
  const json = toJson(result.value);
  if (json.ok) return json.value;
  throw new HoldfastError("invalid-input", `The context is not JSON at ${json.path}: ${json.problem}`);
}

async function judgeContext(name: string, schema: StandardSchema, context: unknown): Promise<SchemaResult<unknown>> {
  try {
    return await schema["~standard"].validate(context);
  } catch (cause) {
    throw new HoldfastError("invalid-input", `Checking the context of agent ${name} threw: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Generated message ids are not part of what was asked. */
function contentOf(messages: readonly Message[]): JsonValue {
  return messages.map(({ role, parts }) => ({ role, parts: parts as unknown as JsonValue }));
}
