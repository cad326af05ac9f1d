/** What is content in the bodies of events: messages, calls, commands, tickets, decisions, outcomes. */
import type { RemoteSettlement } from "./backend/remote-turn.ts";
import type { Command, GivenCommand } from "./command.ts";
import type { PluginFailure, Settled, Verdict } from "./entry.ts";
import type { ErrorRecord } from "./errors.ts";
import { hide, hideBy, hideItems, type Rules } from "./hide.ts";
import type { HistoryMark } from "./history.ts";
import type { CallInput, CallResult, Message, Part, ShownPart } from "./message.ts";
import type { OutputReport } from "./output.ts";
import type { Overrides } from "./overrides.ts";
import type { Outcome } from "./run.ts";
import type { BackendStatus } from "./seed-tables/backend-status.ts";
import type { StateChange } from "./state-slots.ts";
import type { Decision, TicketCall, TicketRecord } from "./ticket.ts";

function by<Union extends object>(rules: Rules<Union>): (value: Union) => Union {
  return (value) => hide(value, rules);
}

const hideInput = by<CallInput>({ kind: "shown", value: "hidden", text: "hidden", problem: "hidden" });
const hideResult = by<CallResult>({
  kind: "shown",
  value: "hidden",
  say: "hidden",
  // Whoever can guess the bytes can check the guess by their hash.
  content: (content) => hide(content, { hash: "hidden", bytes: "shown", mediaType: "shown" }),
  shown: (parts) => parts.map((part) => hidePart(part) as ShownPart),
  code: "shown",
  message: "hidden",
});
const hidePart: (part: Part) => Part = by<Part>({
  type: "shown",
  text: "hidden",
  metadata: () => ({}),
  mediaType: "hidden",
  url: "hidden",
  content: (content) => hide(content, { hash: "hidden", bytes: "shown", mediaType: "hidden" }),
  name: "hidden",
  call: "shown",
  tool: "shown",
  input: hideInput,
  alias: "hidden",
  result: hideResult,
  data: "hidden",
});

export const hideMessage = by<Message>({
  id: "shown",
  role: "shown",
  parts: (parts) => parts.map(hidePart),
  visibility: "shown",
  producer: "shown",
});

export const hideMark = by<HistoryMark>({
  from: "shown",
  before: "shown",
  shortened: "shown",
  head: "shown",
  pinnedFor: "shown",
  summary: (summary) => hide(summary, { id: "shown", text: "hidden", of: "shown", previous: "shown" }),
  ratio: "shown",
});

const hideError = by<ErrorRecord>({ code: "shown", message: "hidden" });

export const hideOutcome = hideBy<"kind", Outcome>("kind", {
  completed: { reason: "shown" },
  stopped: { code: "shown", detail: "hidden" },
  blocked: { reason: "hidden", code: "shown", policy: "shown" },
  cancelled: { reason: "hidden" },
  failed: { error: hideError, retry: "shown" },
  "timed-out": {},
});

const hideStatus = by<BackendStatus>({ kind: "shown", message: "hidden" });

/** A termination may quote the other side, as its reason may. */
const hideRemote = by<RemoteSettlement>({
  status: hideStatus,
  termination: ({ type }) => ({ type }) as RemoteSettlement["termination"],
  statusReason: "hidden",
  task: "shown",
  tookMs: "shown",
  dropped: "shown",
});

export const hideSettled = hideBy<"kind", Settled>("kind", {
  done: {
    message: "shown",
    usage: "shown",
    finish: "shown",
    cost: "shown",
    answeredBy: "shown",
    cut: hideError,
    remote: hideRemote,
  },
  failed: {
    error: hideError,
    retry: "shown",
    retryAt: "shown",
    begun: "shown",
    kept: (parts) => parts.map(hidePart),
    usage: "shown",
    cost: "shown",
    answeredBy: "shown",
  },
  refused: { code: "shown", message: "hidden" },
  "not-made": {},
  lost: {},
  aborted: {},
  unknown: { why: "hidden", decidableFrom: "shown" },
});

export const hideVerdict = by<Verdict>({
  by: "shown",
  policy: "shown",
  reason: "shown",
  kind: "shown",
  input: "hidden",
  ticket: "shown",
  prompt: "hidden",
  problem: "hidden",
  terms: "shown",
  code: "shown",
  message: "hidden",
  stop: "shown",
  result: hideResult,
});

const overrideRules = {
  model: "shown",
  temperature: "shown",
  maxOutputTokens: "shown",
  topP: "shown",
  reasoningEffort: "shown",
  settings: () => ({}),
} as const satisfies Rules<Overrides>;
export const hideOverrides = by<Overrides>(overrideRules);

const hideCommand: (command: Command) => Command = hideBy<"type", Command>("type", {
  "set-state": { key: "shown", value: "hidden", operand: "hidden" },
  "add-context": {
    key: "shown",
    text: "hidden",
    target: "shown",
    priority: "shown",
    cooldown: "shown",
    persistent: "shown",
    consumeOnce: "shown",
  },
  "hide-tools": { tools: "shown" },
  "restrict-tools": { tools: "shown" },
  "patch-request": { instructions: "hidden", ...overrideRules },
  deny: { reason: "hidden", stop: "shown", code: "shown" },
  ask: { prompt: "hidden", terms: "shown" },
  "set-result": { value: "hidden", say: "hidden" },
  "patch-input": { input: "hidden" },
  "rewrite-result": { value: "hidden", say: "hidden", error: "hidden", code: "shown" },
  "rewrite-output": { text: "hidden" },
  retry: { reason: "hidden" },
  stop: { code: "shown", detail: "hidden", outcome: "shown" },
  continue: { message: "hidden" },
  schedule: { phase: "shown", command: (command) => hideCommand(command) },
  "open-ticket": { name: "shown", prompt: "hidden", kind: "shown", terms: "shown" },
  "send-input": { run: "shown", message: "hidden" },
});

export const hideGiven = by<GivenCommand>({ plugin: "shown", policy: "shown", command: hideCommand });
export const hideFailure = by<PluginFailure>({ plugin: "shown", policy: "shown", error: hideError });
export const hideChange = by<StateChange>({ value: "hidden", operand: "hidden", merge: "shown", initial: "hidden" });
export const hideReport = by<OutputReport>({ valid: "shown", value: "hidden", problems: hideItems });

const hideCall = by<TicketCall>({ id: "shown", tool: "shown", version: "shown", input: "hidden", resume: "shown" });

export const hideTicket = by<TicketRecord>({
  id: "shown",
  kind: "shown",
  run: "shown",
  rootRun: "shown",
  thread: "shown",
  agent: "shown",
  path: "shown",
  child: "shown",
  generation: "shown",
  hash: "shown",
  prompt: "hidden",
  call: hideCall,
  plugin: "shown",
  name: "shown",
  policy: "shown",
  output: "hidden",
  problem: "hidden",
  openedAt: "shown",
  decidableFrom: "shown",
  expiresAt: "shown",
  dueAt: "shown",
  audience: "shown",
  answerBy: "shown",
  onExpiry: "shown",
  escalation: "shown",
});

export const hideDecision = by<Decision>({
  kind: "shown",
  value: "hidden",
  input: "hidden",
  reason: "hidden",
  result: "hidden",
  counts: "shown",
  why: "shown",
  run: "shown",
  agent: "shown",
  outcome: hideOutcome,
  output: "hidden",
  steps: "shown",
  usage: "shown",
  spent: "shown",
  descendants: "shown",
});
