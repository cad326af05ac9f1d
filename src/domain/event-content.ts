/**
 * What a watcher without access to content sees: the same events with the same cursors, and a mark wherever somebody's
 * words or values would be. Ids, kinds, codes, counts, times and the names of agents, tools, plugins and principals stay.
 *
 * C1 Every field of every event and live piece has a rule here or in hide-bodies.ts; a new one without does not compile.
 * C2 What has no rule when it is met, because a newer version wrote it, is hidden.
 * C3 Shapes stay: whoever reads events with content can read them without.
 */
import type { Delta, MessagePartial, MessageRetracted } from "./delta.ts";
import type { EventBody, EventStamp, RunEvent } from "./event.ts";
import { hide, hideText, type Rules, type Tagged, type Without } from "./hide.ts";
import {
  hideChange,
  hideDecision,
  hideFailure,
  hideGiven,
  hideMark,
  hideMessage,
  hideOutcome,
  hideOverrides,
  hideReport,
  hideSettled,
  hideTicket,
  hideVerdict,
} from "./hide-bodies.ts";

type RulesByType<Union extends { readonly type: string }, Stamp extends PropertyKey = never> = {
  readonly [Type in Union["type"]]: Rules<Without<Tagged<Union, "type", Type>, "type" | Stamp>>;
};

const eventRules: RulesByType<EventBody> = {
  "run-created": {
    identity: "shown",
    input: (messages) => messages.map(hideMessage),
    startAt: "shown",
    priority: "shown",
    overrides: hideOverrides,
    forkedFrom: "shown",
  },
  "run-started": { identity: "shown", position: "shown" },
  "run-waiting": { tickets: "shown", reasons: "shown", stopping: "shown" },
  "run-resumed": {},
  "run-ended": {
    identity: "shown",
    outcome: hideOutcome,
    answer: "shown",
    unsaid: "shown",
    successor: "shown",
    unread: "shown",
    descendants: "shown",
  },
  "step-started": { step: "shown" },
  "step-ended": { step: "shown" },
  "context-projected": {
    step: "shown",
    mark: hideMark,
    decisions: "shown",
    tokens: "shown",
    limit: "shown",
    own: "shown",
  },
  "effect-intended": {
    effect: "shown",
    kind: "shown",
    call: "shown",
    attempt: "shown",
    remote: "shown",
    overrides: hideOverrides,
    child: "shown",
  },
  "effect-settled": { effect: "shown", attempt: "shown", result: hideSettled },
  "call-gated": { call: "shown", verdict: hideVerdict },
  "message-appended": { message: hideMessage, from: "shown", index: "shown", gate: "shown" },
  "command-applied": {
    phase: "shown",
    subject: "shown",
    commands: (commands) => commands.map(hideGiven),
    failed: hideFailure,
  },
  "state-changed": { key: "shown", scope: "shown", version: "shown", change: hideChange, by: "shown" },
  "output-validated": { step: "shown", report: hideReport, pending: "shown" },
  "manifest-amended": { from: "shown", fingerprint: "shown", changed: "shown", handoff: "shown" },
  "ticket-opened": { ticket: hideTicket },
  "ticket-decided": { ticket: "shown", decision: hideDecision, by: "shown" },
  "input-received": { input: "shown", message: hideMessage, by: "shown", replaces: "shown" },
  "input-withdrawn": { input: "shown", by: "shown" },
  "cancel-requested": { by: "shown", reason: "hidden", instead: "shown" },
  "pause-requested": { by: "shown", reason: "hidden" },
};

type LivePiece = Delta | MessagePartial | MessageRetracted;
type LiveStamp = "run" | "thread" | "step" | "attempt";

const pieceRules: RulesByType<LivePiece, LiveStamp> = {
  "text-delta": { message: "shown", text: hideText },
  "reasoning-delta": { message: "shown", text: hideText },
  "tool-input-delta": { message: "shown", index: "shown", tool: "shown", text: hideText },
  "tool-progress": { call: "shown", progress: "hidden" },
  "message-partial": {
    message: "shown",
    text: hideText,
    reasoning: hideText,
    inputs: (inputs) => inputs.map((each) => hide(each, { index: "shown", tool: "shown", text: hideText })),
  },
  "message-retracted": { message: "shown" },
};

/** C2 holds for both tables: a type that is in neither shows only its stamp. */
const tables: Readonly<Record<string, object>> = { ...eventRules, ...pieceRules };

const stamp: Readonly<Record<keyof EventStamp | LiveStamp | "type" | "cursor", "shown">> = {
  type: "shown",
  run: "shown",
  thread: "shown",
  seq: "shown",
  at: "shown",
  step: "shown",
  attempt: "shown",
  cursor: "shown",
};

/** Where an event has a field of the stamp's name as its own, both rules are the same. */
export function withoutContent<Told extends RunEvent | LivePiece>(told: Told): Told {
  const own = Object.hasOwn(tables, told.type) ? tables[told.type] : {};
  return hide(told, { ...own, ...stamp } as unknown as Rules<Told>);
}
