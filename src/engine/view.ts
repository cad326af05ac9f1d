/** What a hook sees of a moment. Built as it is looked at, from things that do not change any more. */

import { answerView, isAnswer } from "../domain/candidate.ts";
import type { Settled } from "../domain/entry.ts";
import { frozen } from "../domain/frozen.ts";
import type { JsonValue } from "../domain/json.ts";
import { type CallResult, callsOf, type Message } from "../domain/message.ts";
import type { OutputSpec } from "../domain/output.ts";
import type { Overrides } from "../domain/overrides.ts";
import type { Phase } from "../domain/phase.ts";
import type {
  CallPhaseView,
  CallView,
  DecisionView,
  OutputView,
  PhaseView,
  PieceView,
  PluginRun,
  ReplyView,
  StateView,
} from "../domain/plugin.ts";
import type { DecidedTicket } from "../domain/plugin-state.ts";
import type { Outcome, RunUsage } from "../domain/run.ts";
import type { CallState, RunState } from "../domain/run-state.ts";
import type { StateKeyFacts } from "../domain/state-key.ts";
import { readState, type StateSpace } from "../domain/state-space.ts";
import { overridesOf } from "../domain/step-overrides.ts";
import type { FindOther } from "../ports/provider.ts";

/** One moment of a run, for all hooks that are asked at it. */
export interface Moment {
  readonly phase: Phase;
  readonly subject?: string;
  readonly run: PluginRun;
  readonly state: RunState;
  readonly now: number;
  /** Made when somebody asks for it. */
  readonly signal: () => AbortSignal;
  readonly tools: readonly string[];
  /** The agent that a call of this tool gives work to. */
  readonly delegate: (tool: string) => string | undefined;
  readonly otherModel: FindOther;
  /** By which an answer is told from a call: plugins see calls of tools only. */
  readonly output: OutputSpec | undefined;
  /** The same each time. */
  readonly messages: () => readonly Message[];
  /** after-tool: what the tool answered. */
  readonly result?: CallResult;
  readonly outcome?: Outcome;
  readonly delta?: PieceView;
}

/** What changes from one hook to the next: state that was merged meanwhile, and the call as others have patched it. */
export interface Scene {
  readonly space: StateSpace;
  readonly input?: JsonValue;
  readonly result?: CallResult;
  /** The answer as others have changed it. */
  readonly output?: string;
}

export class HookView implements PhaseView, Omit<DecisionView, keyof PhaseView> {
  readonly #moment: Moment;
  readonly #scene: Scene;
  readonly #config: unknown;

  constructor(moment: Moment, scene: Scene, config: unknown) {
    this.#moment = moment;
    this.#scene = scene;
    this.#config = config;
  }

  get phase(): Phase {
    return this.#moment.phase;
  }
  get config(): unknown {
    return this.#config;
  }
  get run(): PluginRun {
    return this.#moment.run;
  }
  get step(): number {
    const { step, stepsEnded } = this.#moment.state;
    return this.#moment.phase === "before-step" ? stepsEnded + 1 : (step?.step ?? 0);
  }
  get stepsEnded(): number {
    return this.#moment.state.stepsEnded;
  }
  get startedAt(): number {
    return this.#moment.state.startedAt ?? this.#moment.now;
  }
  get now(): number {
    return this.#moment.now;
  }
  get usage(): RunUsage {
    return frozen(this.#moment.state.usage);
  }
  get messages(): readonly Message[] {
    return frozen(this.#moment.messages());
  }
  get state(): StateView {
    const { space } = this.#scene;
    return frozen({ get: (key) => frozen(readState(space, key as StateKeyFacts)) as never });
  }
  get tools(): readonly string[] {
    return this.#moment.tools;
  }
  get overrides(): Overrides {
    return frozen(overridesOf(this.#moment.state) ?? {});
  }
  get calls(): readonly CallView[] {
    const { state, output, subject } = this.#moment;
    const calls = (state.step?.calls ?? []).filter((call) => !isAnswer(call, output));
    return frozen(calls.map((call) => (call.id === subject ? this.call : this.#callView(call))));
  }
  get signal(): AbortSignal {
    return this.#moment.signal();
  }
  get call(): CallPhaseView["call"] {
    const { state, subject } = this.#moment;
    const call = state.step?.calls.find((each) => each.id === subject);
    if (!call) return undefined as never;
    const { input, result = this.#moment.result } = this.#scene;
    const view = this.#callView(call);
    return frozen({ ...view, ...(input === undefined ? {} : { input }), ...(result ? { result } : {}) });
  }
  get reply(): ReplyView["reply"] {
    const { step } = this.#moment.state;
    const message = this.messages.findLast(({ role }) => role === "assistant");
    const last = step?.model.last;
    const {
      finish = "other",
      usage,
      answeredBy,
    }: Partial<Extract<Settled, { kind: "done" }>> = last?.kind === "done" ? last : {};
    const counted = { ...(usage ? { usage } : {}), ...(answeredBy ? { answeredBy } : {}) };
    return frozen({ message: message as Message, finish, ...counted });
  }
  get output(): OutputView["output"] {
    const { step } = this.#moment.state;
    const { output: changed } = this.#scene;
    return frozen(answerView(step, changed)) as OutputView["output"];
  }
  get outcome(): Outcome {
    return frozen(this.#moment.outcome as Outcome);
  }
  get cancel(): { readonly by: string; readonly reason?: string } {
    const { by, reason } = this.#moment.state.cancel ?? { by: "", reason: undefined };
    return frozen({ by, ...(reason === undefined ? {} : { reason }) });
  }
  get delta(): PieceView {
    return frozen(this.#moment.delta as PieceView);
  }
  get ticket(): DecisionView["ticket"] {
    const { decision: _decision, by: _by, at: _at, ...ticket } = this.#decided;
    return frozen(ticket);
  }
  get decision(): DecisionView["decision"] {
    return frozen(this.#decided.decision);
  }
  get by(): string {
    return this.#decided.by;
  }
  get at(): number {
    return this.#decided.at;
  }

  get #decided(): DecidedTicket {
    return this.#moment.state.plugins.decided.find(({ id }) => id === this.#moment.subject) as DecidedTicket;
  }

  #callView({ id, index, tool, input, effect, edit, result }: CallState): CallView {
    const value = edit ? edit.input : input.kind === "json" ? input.value : null;
    const known = result ?? resultIn(this.messages, id);
    const view = { id, index, tool, input: value, attempt: effect?.attempt ?? 0, edited: edit !== undefined };
    const delegate = this.#moment.delegate(tool);
    return frozen({ ...view, ...(delegate === undefined ? {} : { delegate }), ...(known ? { result: known } : {}) });
  }
}

function resultIn(messages: readonly Message[], call: CallState["id"]): CallResult | undefined {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at] as Message;
    if (message.role === "assistant" && callsOf(message).some((part) => part.call === call)) return undefined;
    for (const part of message.parts) if (part.type === "tool-result" && part.call === call) return part.result;
  }
  return undefined;
}
