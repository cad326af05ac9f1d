/**
 * Command: what a hook may ask for. A closed union of plain data, so that what was asked can be checked, merged, scheduled
 * and written down; at which phase each is allowed is the engine's table.
 */
import type { ApprovalTerms } from "./approval.ts";
import type { JsonValue } from "./json.ts";
import type { Overrides } from "./overrides.ts";
import type { Phase, PolicyStageName } from "./phase.ts";

/** Made by `key.set(value)` or `key.update(operand)`. */
export interface SetState {
  readonly type: "set-state";
  readonly key: string;
  readonly value?: JsonValue;
  readonly operand?: JsonValue;
}

/**
 * system: after the instructions · session: before the conversation · conversation: the same, in the words of a user ·
 * suffix: after the newest message
 */
export type ContextTarget = "system" | "session" | "conversation" | "suffix";

/** Words for the model that are no message of the thread. */
export interface ContextMessage {
  /** The same key of the same plugin replaces what it said before. */
  readonly key: string;
  /** Empty: takes back what the key has said. */
  readonly text: string;
  readonly target?: ContextTarget;
  /** Lower ones come first; 0 unless said. */
  readonly priority?: number;
  /** Steps to leave out before it is said again, unless its text changes. */
  readonly cooldown?: number;
  /** Said at every model call instead of only the next one. */
  readonly persistent?: boolean;
  /** Persistent until it was said once. */
  readonly consumeOnce?: boolean;
}

export interface AddContext extends ContextMessage {
  readonly type: "add-context";
}
/** For this step the model neither sees nor may call them. */
export interface HideTools {
  readonly type: "hide-tools";
  readonly tools: readonly string[];
}
/** For this step only these; of several lists what all of them name. */
export interface RestrictTools {
  readonly type: "restrict-tools";
  readonly tools: readonly string[];
}
/** Of this step's model call: other instructions, another model, other settings, field by field. */
export interface PatchRequest extends Overrides {
  readonly type: "patch-request";
  readonly instructions?: string;
}
/** The call is not run and the model reads why; with `stop` the run ends as blocked. */
export interface Deny {
  readonly type: "deny";
  readonly reason: string;
  readonly stop?: boolean;
  /** For programs; the reason is for people. */
  readonly code?: string;
}
/** A person decides. */
export interface Ask {
  readonly type: "ask";
  readonly prompt: string;
  readonly terms?: ApprovalTerms;
}
/** The call is not run; this is its result. */
export interface SetResult {
  readonly type: "set-result";
  readonly value: JsonValue;
  readonly say?: string;
}
/** Replaces the whole input; it is checked and judged like any other. */
export interface PatchInput {
  readonly type: "patch-input";
  readonly input: JsonValue;
}
/** What the model reads instead of the tool's own result: a value, or an error in words. */
export interface RewriteResult {
  readonly type: "rewrite-result";
  readonly value?: JsonValue;
  readonly say?: string;
  readonly error?: string;
  /** With an error: the result is withheld, and this is why, for programs. */
  readonly code?: string;
}
/** What is said instead of the model's answer; where the agent has an output, it is checked like the model's own. */
export interface RewriteOutput {
  readonly type: "rewrite-output";
  readonly text: string;
}
/** after-model: none of the reply's calls runs and the model is asked again · after-tool: the call is attempted again. */
export interface Retry {
  readonly type: "retry";
  readonly reason: string;
}
/** Nothing new begins; what is in flight settles; then the run ends. */
export interface Stop {
  readonly type: "stop";
  readonly code: string;
  readonly detail?: string;
  readonly outcome?: "stopped" | "completed" | "blocked";
}
/** The run goes on where it would have ended; the model reads this. */
export interface Continue {
  readonly type: "continue";
  readonly message: string;
}
/** Applied once, when the run next comes to that phase. */
export interface Schedule {
  readonly type: "schedule";
  readonly phase: Phase;
  readonly command: Command;
}
/** The run begins nothing more until somebody has answered; on-decision sees the answer. */
export interface OpenTicket {
  readonly type: "open-ticket";
  readonly name: string;
  readonly prompt: string;
  /** An input unless said, which is answered with a value; an approval is approved or rejected. */
  readonly kind?: "input" | "approval";
  readonly terms?: ApprovalTerms;
}
/** Into the inbox of a run of the same scope, this one or another: once, also over crashes. */
export interface SendInput {
  readonly type: "send-input";
  readonly run: string;
  readonly message: string;
}

export type Command =
  | SetState
  | AddContext
  | HideTools
  | RestrictTools
  | PatchRequest
  | Deny
  | Ask
  | SetResult
  | PatchInput
  | RewriteResult
  | RewriteOutput
  | Retry
  | Stop
  | Continue
  | Schedule
  | OpenTicket
  | SendInput;

export type CommandType = Command["type"];

/** The policy that has said something, and where it was asked. */
export interface PolicyRef {
  readonly name: string;
  readonly version: string;
  readonly stage: PolicyStageName;
}

/** A command together with the plugin that gave it; of a policy, with which one it is. */
export interface GivenCommand {
  readonly plugin: string;
  readonly policy?: PolicyRef;
  readonly command: Command;
}
