/**
 * Waiting reasons (M3, B-089). Ours are the thirteen ticket kinds; Awaken has six. Total both ways:
 * what Awaken has no word for is an external event.
 */

/** Every kind of ticket a run can wait on. The kinds built so far (`TicketKind`) are a part of it. */
export type WaitingReason =
  | "approval"
  | "input"
  | "auth"
  | "child"
  | "background"
  | "event"
  | "rate-limit"
  | "pause"
  | "timer"
  | "unknown-outcome"
  | "missing-capability"
  | "quarantined"
  | "budget";

export type SeedWaitingReason =
  | "tool_permission"
  | "user_input"
  | "background_tasks"
  | "external_event"
  | "rate_limit"
  | "manual_pause";

interface ReasonRow {
  readonly seed: SeedWaitingReason;
  /** The status reason text of a run that waits so, where Awaken has one (M2). */
  readonly text?: string;
}

/** In the order in which a run that waits on several things names one: what a person can answer comes first. */
const rows: Readonly<Record<WaitingReason, ReasonRow>> = {
  input: { seed: "user_input", text: "input_required" },
  auth: { seed: "tool_permission", text: "auth_required" },
  approval: { seed: "tool_permission", text: "suspended" },
  "unknown-outcome": { seed: "external_event", text: "suspended" },
  quarantined: { seed: "external_event" },
  "missing-capability": { seed: "external_event" },
  budget: { seed: "external_event" },
  pause: { seed: "manual_pause", text: "manual_pause" },
  event: { seed: "external_event" },
  child: { seed: "external_event" },
  background: { seed: "background_tasks", text: "awaiting_tasks" },
  "rate-limit": { seed: "rate_limit", text: "rate_limit" },
  timer: { seed: "external_event" },
};

export const waitingReasons: readonly WaitingReason[] = Object.keys(rows) as WaitingReason[];

export function seedWaitingReason(reason: WaitingReason): SeedWaitingReason {
  return rows[reason].seed;
}

export function reasonText(reason: WaitingReason): string | undefined {
  return rows[reason].text;
}

const byText: Readonly<Partial<Record<string, WaitingReason>>> = {
  input_required: "input",
  user_input_required: "input",
  auth_required: "auth",
  suspended: "approval",
  awaiting_tasks: "background",
  rate_limit: "rate-limit",
  manual_pause: "pause",
};

/** What a remote's reason text means here: B-089, except that auth is its own reason (D-07). */
export function waitingReasonFromText(text: string | undefined): WaitingReason {
  if (text === undefined || !Object.hasOwn(byText, text)) return "event";
  return byText[text] ?? "event";
}

/** The one reason that stands for several; a wait that names none is an external event. */
export function leadingReason(reasons: readonly WaitingReason[]): WaitingReason {
  return waitingReasons.find((reason) => reasons.includes(reason)) ?? "event";
}
