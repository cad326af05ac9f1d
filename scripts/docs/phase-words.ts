/** Phases, commands and views in words. The types make sure that none of them, and none of their fields, is left out. */
import type { Command, CommandType } from "../../src/domain/command.ts";
import type { Phase } from "../../src/domain/phase.ts";
import type { CallView, Hooks, PhaseView, PluginRun } from "../../src/domain/plugin.ts";
import type { PhaseRow } from "../../src/engine/phases.ts";

export const when: Readonly<Record<Phase, string>> = {
  "before-run": "The run begins. Once, before the first step.",
  "before-step": "A step is about to begin. Messages from the inbox are read after it.",
  "context-ready": "The step has begun and the messages it will send are known.",
  "before-model": "Right before the model call is intended. Once per step, not per attempt.",
  "model-delta": "A piece of the reply has come. It may be of an attempt that comes to nothing.",
  "output-gate":
    "The model has given an answer: a reply that asks for no tool, checked if the agent has an `output`. Nobody reads it before this is over, and none of its pieces is told live.",
  "after-model": "The reply is there. None of its calls was looked at yet.",
  "tool-gate": "A call is judged: after the tool's own check, unless that has refused it. Again after a person's edit.",
  "before-tool": "The call may run, approvals included. Before its first attempt.",
  "after-tool": "An attempt gave a value or an error. Before the model reads it.",
  "after-step": "Every call of the step has its result.",
  "before-end": "The run would end as `completed`. Not before any other end.",
  "after-run": "The run has ended, in the process that ended it. A crash right there leaves it out.",
  "on-decision": "A person has decided a ticket of this run. Before the run acts on it.",
  "on-cancel": "Somebody has cancelled a run that had begun. Its effects are being aborted.",
};

export const failures: Readonly<Record<PhaseRow["failure"], string>> = {
  "run-fails": "The run ends as `failed`; its error names plugin and phase.",
  "call-refused": "The call does not run; the model reads `plugin-failed`.",
  "result-hidden":
    "The model reads `plugin-failed` instead of the result, and not what the hook threw: that is logged, as it is in `output-gate`.",
  noted: "It is logged, and the run goes on.",
};

type FieldsOf<Type extends CommandType> = Omit<Extract<Command, { type: Type }>, "type">;
/** `name?` for one that may be left out. */
type Marked<Fields> = {
  readonly [Name in keyof Fields as object extends Pick<Fields, Name> ? `${Name & string}?` : Name]: string;
};
type Described = { readonly [Type in CommandType]: readonly [means: string, fields: Marked<FieldsOf<Type>>] };

export const commands: Described = {
  "set-state": [
    "Writes a state key of the plugin. Made by `key.set(value)` and `key.update(operand)`.",
    { key: "Its name.", "value?": "Of an exclusive key.", "operand?": "Of a merged one." },
  ],
  "add-context": [
    "Words for the model that are no message of the thread.",
    {
      key: "The same key of the same plugin replaces what it said before.",
      text: "What is said.",
      "target?":
        "`system` (after the instructions; unless said), `session` (before the conversation), `conversation` (the same, as a user), `suffix` (after the newest message).",
      "priority?": "Lower ones come first; 0 unless said.",
      "cooldown?": "Steps to leave out before it is said again, unless its text changes.",
      "persistent?": "Said at every model call from now on, instead of only the next one.",
      "consumeOnce?": "Kept until it was said once.",
    },
  ],
  "hide-tools": [
    "For this step the model neither sees these tools nor may call them.",
    { tools: "Names. In `before-step` the step to come is meant." },
  ],
  "restrict-tools": ["For this step only these tools.", { tools: "Of several lists what all of them name." }],
  "patch-request": [
    "Changes this step's model call.",
    {
      "instructions?": "Instead of the agent's.",
      "model?": "Another model: a route, or a name of the agent's own provider.",
      "temperature?":
        "Like the fields below merged over the run's own [overrides](../how-to/override-a-model.md); later plugins win.",
      "maxOutputTokens?": "The longest answer.",
      "topP?": "A number from 0 to 1.",
      "reasoningEffort?": "`none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.",
      "settings?": "By the provider's own names, merged name by name.",
    },
  ],
  deny: [
    "The call is not run.",
    { reason: "The model reads it.", "stop?": "`true`: the run ends as `blocked` as well.", "code?": "For programs." },
  ],
  ask: ["An `approval` ticket: a person decides.", { prompt: "What the person reads." }],
  "set-result": [
    "The call is not run; this is its result.",
    { value: "JSON.", "say?": "What the model reads instead of the value." },
  ],
  "patch-input": [
    "Another input for the call. It is checked and judged like the model's own.",
    { input: "Replaces the whole input." },
  ],
  "rewrite-result": [
    "What the model reads instead of the tool's result: a value or an error.",
    {
      "value?": "JSON.",
      "say?": "What the model reads instead of the value.",
      "error?": "In words.",
      "code?": "With an error: it is a refusal, and this is why, for programs.",
    },
  ],
  "rewrite-output": [
    "What is said instead of the model's answer. Where the agent has an `output`, it must fit it too.",
    { text: "The answer; JSON where the agent has an `output`." },
  ],
  retry: [
    "`after-model`: none of the reply's calls runs and the model is asked again, in a further step. `after-tool`: the call is attempted again.",
    { reason: "After `after-model` the model reads it." },
  ],
  stop: [
    "Nothing new begins; what is in flight settles; then the run ends.",
    {
      code: "A short name of yours.",
      "detail?": "In words.",
      "outcome?": "`stopped` (unless said), `completed` or `blocked`.",
    },
  ],
  continue: ["The run goes on where it would have ended.", { message: "The model reads it as a message." }],
  schedule: [
    "A command that is applied once, when the run next comes to that phase.",
    { phase: "Not `tool-gate` or `before-run`.", command: "One that the phase allows; no `schedule`." },
  ],
  "open-ticket": [
    "An `input` ticket. The run begins nothing more until it is answered; `on-decision` sees the answer.",
    { name: "How `on-decision` finds it again.", prompt: "What the person reads." },
  ],
  "send-input": [
    "A message into the inbox of a run: delivered once, also over crashes.",
    { run: "Its id; a run of the same scope, this one or another.", message: "Text." },
  ],
};

export const view: Readonly<Record<keyof PhaseView, string>> = {
  phase: "The phase.",
  config: "The plugin's config, as its schema made it.",
  run: "The run: see below.",
  step: "The step at hand: the one to come in `before-step`, 0 before the first.",
  stepsEnded: "Steps that are over.",
  startedAt: "When the run began to be executed.",
  now: "Milliseconds: the store's time, or this process's where that is later.",
  usage:
    "Tokens of the run so far: `inputTokens`, `outputTokens`, and where providers count them `cacheReadTokens`, `cacheWriteTokens`, `reasoningTokens`. `uncountedReplies` says how many replies no provider has counted.",
  messages: "The newest messages of the thread, as the model sees them.",
  state: "`state.get(key)` of any key of the agent, as it was when the phase began.",
  tools: "Names of the agent's tools.",
  overrides:
    "What the step's model call is asked [otherwise](../how-to/override-a-model.md) than the agent does: the run's word and what plugins said before this moment.",
  calls: "The calls of the step at hand, with their results as far as they are known.",
  signal: "Aborted when the phase's time is over or the run is no longer this process's.",
};

export const run: Readonly<Record<keyof PluginRun, string>> = {
  id: "The run.",
  thread: "Its thread.",
  agent: "Its agent's name.",
  scope: "Its scope.",
  context: "What `start(…, { context })` brought.",
  createdAt: "When it was started.",
  model: "What its model is: `provider` and `model`. A step may call another one: see `overrides`.",
  foundAs: "Its status when this process took it up.",
  now: "`()`: the time that views have as `now`.",
  log: "`(message, details)`: a note to the runtime's logger.",
  redact: "A JSON value without what the runtime's `redact` hides, for whatever leaves the process.",
  hash: "A short name for a JSON value, the same in every process.",
};

export const call: Readonly<Record<keyof CallView, string>> = {
  id: "Run, step and index.",
  index: "Its place in the reply, from 0.",
  tool: "The tool.",
  delegate: "Of a delegate's call: the agent that it gives work to.",
  input: "JSON, as the model or a person wrote it.",
  attempt: "Attempts made so far.",
  edited: "A person has changed the input.",
  result: 'Once there is one: `{ kind: "value", value }` or `{ kind: "error", code, message }`.',
};

/** What a phase's view has besides: the type of its hooks says which. */
type Extra<P extends Phase> =
  NonNullable<Hooks[P]> extends infer Listed
    ? Listed extends (view: infer V) => unknown
      ? Exclude<keyof V, keyof PhaseView>
      : never
    : never;
export const extras: { readonly [P in Phase]: Readonly<Record<Extra<P>, string>> } = {
  "before-run": {},
  "before-step": {},
  "context-ready": {},
  "before-model": {},
  "model-delta": {
    delta:
      "`type`, `text` and `attempt` of the piece. `message-begun` comes before an attempt's first, `message-retracted`, perhaps with an `error`, when it comes to nothing.",
  },
  "output-gate": { output: "`text`, `value` where the agent has an `output`, and the `message` as it would be said." },
  "after-model": {
    reply:
      "`message`, `finish` (why the model stopped), `usage` (its tokens; absent when the provider did not count) and, of a pool, `answeredBy` (the model that answered).",
  },
  "tool-gate": { call: "The call." },
  "before-tool": { call: "The call." },
  "after-tool": { call: "The call, with its `result`." },
  "after-step": {},
  "before-end": { outcome: "How the run would end." },
  "after-run": { outcome: "How it ended." },
  "on-decision": {
    ticket:
      "`id`, `kind`, `prompt`, the `plugin` that asked and the `name` it gave, and of a call `call`, `tool` and `input`.",
    decision: "`kind`, the verb that was used, and what it was given: `value`, `input`, `reason` or `result`.",
    by: "Who decided.",
    at: "When.",
  },
  "on-cancel": { cancel: "`by` and `reason`." },
};
