/**
 * Scenarios that read as stories: given an agent and a model, when somebody says or decides something, then this is
 * seen. Free of any test framework: what does not hold is thrown as a plain Error.
 */
import { type Agent, type AgentOptions, agent } from "../domain/agent.ts";
import type { Entry } from "../domain/entry.ts";
import { defaultScope, type RunId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { CallResult, Message } from "../domain/message.ts";
import type { StandardSchema } from "../domain/standard-schema.ts";
import type { TicketKind } from "../domain/ticket.ts";
import type { Tool } from "../domain/tool.ts";
import type { Model, ModelRequest } from "../ports/provider.ts";
import type { EvidenceRow, Store, StoreDefinition } from "../ports/store.ts";
import { type ScriptedAnswer, scripted } from "../providers/scripted.ts";
import type { ActOptions, Run, RunResult, Settlement, StartOptions, Ticket } from "../runtime/runtime.ts";
import { memory } from "../stores/memory/memory.ts";
import { milliseconds } from "./fake-clock.ts";
import { silentLogger, turn } from "./test-process.ts";
import { type Executed, type TestRuntime, type TestRuntimeOptions, testRuntime } from "./test-runtime.ts";

export type StoryAgent = Omit<AgentOptions<StandardSchema>, "model">;

/** `{ ...anAgentWith(tool), budget: { steps: 3 } }` says more about it. */
export function anAgentWith(...tools: readonly Tool[]): StoryAgent {
  return { name: "teller", instructions: "Tell the story.", tools };
}

export interface StoryModel {
  readonly model: Model;
  /** Every request, over all steps, attempts and restarts. */
  readonly saw: readonly ModelRequest[];
}

/** One answer per step. */
export function aModelThat(...answers: readonly ScriptedAnswer[]): StoryModel {
  const { description, call } = scripted(answers);
  const saw: ModelRequest[] = [];
  const model: Model = {
    description,
    call(request, signal) {
      saw.push(request);
      return call(request, signal);
    },
  };
  return { model, saw };
}

export function callsTool(name: string, input: unknown = {}): ScriptedAnswer {
  return callsTools([name, input]);
}

/** Several calls in one step. */
export function callsTools(...calls: readonly (readonly [name: string, input: unknown])[]): ScriptedAnswer {
  return { calls: calls.map(([tool, input]) => ({ tool, input })) };
}

export function says(text: string): ScriptedAnswer {
  return text;
}

type Ref = Pick<Run, "id">;
type TicketOf<Kind extends TicketKind> = Extract<Ticket, { kind: Kind }>;
type ResultOf<Outcome extends RunResult["outcome"]> = Extract<RunResult, { outcome: Outcome }>;

export interface Story {
  readonly t: TestRuntime;
  /** The agent that the story is about, for starts with options of their own. */
  readonly agent: Agent;
  readonly modelSaw: readonly ModelRequest[];
  /** The handle outlives restarts: it always asks the process that lives. */
  userSays(text: string, options?: StartOptions): Promise<Run>;
  /** Lets time pass, also while a tool or a model hangs. */
  pass(duration: number | string): Promise<void>;
  /** Kills the process without a word; another one goes on. */
  restart(): Promise<void>;

  /** The open ticket that the run waits on: of a kind, or for a tool. */
  expectWaitingFor<Kind extends TicketKind>(run: Ref, kind: Kind): Promise<TicketOf<Kind>>;
  expectWaitingFor(run: Ref, tool: string): Promise<Ticket>;
  expectReply(run: Ref, text: string): Promise<void>;
  expectOutcome<Outcome extends RunResult["outcome"]>(run: Ref, outcome: Outcome): Promise<ResultOf<Outcome>>;

  approve(run: Ref, tool: string, options?: ActOptions): Promise<Settlement>;
  edit(run: Ref, tool: string, input: JsonValue): Promise<Settlement>;
  reject(run: Ref, tool: string, reason: string): Promise<Settlement>;
  answer(run: Ref, tool: string, value: JsonValue): Promise<Settlement>;

  /** What the tool's code was really called with, over all restarts. */
  effects(tool: Tool): readonly Executed[];
  journal(run: Ref): Promise<readonly Entry[]>;
  evidence(run: Ref): Promise<readonly EvidenceRow[]>;
  /** Tool results of the run, in the order in which they were appended. */
  results(run: Ref): Promise<readonly CallResult[]>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type StoryOptions = Pick<TestRuntimeOptions, "settings" | "intercept" | "store">;

/** A story that hangs says where, instead of running into its framework's limit. */
const patienceMs = 5_000;
const turnsPerWake = 40;
const closeGraceMs = 5_000;

export async function given(
  teller: StoryAgent,
  { model, saw }: StoryModel,
  options: StoryOptions = {},
): Promise<Story> {
  const definition = agent({ ...teller, model });
  const store = options.store ?? memory();
  const t = await testRuntime({ ...options, store, agents: [definition] });
  const current = ({ id }: Ref): Run => t.runtime.runs.get(id, definition);
  const patience = (): { signal: AbortSignal } => ({ signal: AbortSignal.timeout(patienceMs) });

  async function expectWaitingFor(run: Ref, what: string): Promise<Ticket> {
    const idle = await current(run).idle(patience());
    if (idle.status === "done") throw unlike(`waits for ${what}`, idle.result);
    const ticket = idle.tickets.find((each) => each.kind === what || ("tool" in each && each.tool === what));
    if (!ticket)
      throw unlike(
        `waits for ${what}`,
        idle.tickets.map(({ kind, prompt }) => ({ kind, prompt })),
      );
    return ticket;
  }

  async function approval(run: Ref, tool: string): Promise<TicketOf<"approval">> {
    const ticket = await expectWaitingFor(run, tool);
    if (ticket.kind !== "approval") throw unlike(`waits for an approval of ${tool}`, ticket.kind);
    return ticket;
  }

  async function expectOutcome<Outcome extends RunResult["outcome"]>(
    run: Ref,
    outcome: Outcome,
  ): Promise<ResultOf<Outcome>> {
    const result = await current(run).result(patience());
    if (result.outcome !== outcome) throw unlike(`ends as ${outcome}`, result);
    return result as ResultOf<Outcome>;
  }

  return {
    t,
    agent: definition,
    modelSaw: saw,
    userSays: async (text, more = {}) => lasting(await t.runtime.start(definition, text, more), current),
    pass: (duration) => t.clock.advance(milliseconds(duration), () => calm(t)),
    restart: () => t.restart(),
    expectWaitingFor: expectWaitingFor as Story["expectWaitingFor"],
    expectOutcome,
    async expectReply(run, text) {
      const { output } = await expectOutcome(run, "completed");
      if (output !== text) throw unlike(`replies ${JSON.stringify(text)}`, output);
    },
    approve: async (run, tool, more) => (await approval(run, tool)).approve(more),
    edit: async (run, tool, input) => (await approval(run, tool)).edit(input),
    reject: async (run, tool, reason) => (await approval(run, tool)).reject(reason),
    async answer(run, tool, value) {
      const ticket = await expectWaitingFor(run, tool);
      if (!("answer" in ticket)) throw unlike(`takes an answer for ${tool}`, ticket.kind);
      return ticket.answer(value);
    },
    effects: (tool) => t.effects(tool),
    journal: (run) => reading(t, store, (open) => entriesOf(run.id, open)),
    evidence: (run) => reading(t, store, (open) => open.evidence({ scope: defaultScope, run: run.id })),
    results: (run) => reading(t, store, async (open) => resultsIn(await entriesOf(run.id, open))),
    close: () => end(t),
    [Symbol.asyncDispose]: () => end(t),
  };
}

function lasting({ id }: Ref, current: (run: Ref) => Run): Run {
  const run = { id };
  return {
    id,
    status: () => current(run).status(),
    idle: (options) => current(run).idle(options),
    result: (options) => current(run).result(options),
    output: (options) => current(run).output(options),
    cancel: (options) => current(run).cancel(options),
    tasks: () => current(run).tasks(),
    pause: (options) => current(run).pause(options),
    watch: (options) => current(run).watch(options),
    terminalEvent: () => current(run).terminalEvent(),
    state: (options) => current(run).state(options),
    evidence: () => current(run).evidence(),
    retell: (options) => current(run).retell(options),
    send: (input, options) => current(run).send(input, options),
  };
}

/** Like quiet, but a call that hangs does not hold time still; one that the store is at work on does. */
async function calm(t: TestRuntime): Promise<void> {
  let calmTurns = 0;
  for (let count = 0; count < turnsPerWake && calmTurns < 3; count = t.process.storing() > 0 ? 0 : count + 1) {
    await turn();
    calmTurns = t.process.busy() === 0 || t.process.isDead() ? calmTurns + 1 : 0;
  }
}

/** Closes the last process; its grace for what hangs passes at once. */
async function end(t: TestRuntime): Promise<void> {
  if (t.process.isDead()) return;
  const closing = t.close();
  await t.clock.advance(closeGraceMs, () => calm(t));
  await closing;
}

/** A reader's own handle: it sees only what is stored. */
async function reading<T>(t: TestRuntime, store: StoreDefinition, read: (open: Store) => Promise<T>): Promise<T> {
  const open = await store.open({ clock: t.clock, logger: silentLogger });
  try {
    return await read(open);
  } finally {
    await open.close();
  }
}

async function entriesOf(run: RunId, store: Store): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const after = entries.at(-1)?.seq ?? 0;
    const more = await store.readRun({ scope: defaultScope, run, after, limit: 256 });
    if (more.length === 0) return entries;
    entries.push(...more);
  }
}

function resultsIn(entries: readonly Entry[]): readonly CallResult[] {
  const messages = entries.flatMap((entry) =>
    entry.type === "message-appended" && entry.body.kind === "here" ? [entry.body.message] : [],
  );
  return messages.flatMap(resultsOf);
}

/** The tool results that a message carries. */
export function resultsOf(message: Message): readonly CallResult[] {
  return message.parts.flatMap((part) => (part.type === "tool-result" ? [part.result] : []));
}

function unlike(expected: string, found: unknown): Error {
  return new Error(`Expected a run that ${expected}, and found ${JSON.stringify(found)}`);
}
