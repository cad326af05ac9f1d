import { expect, test } from "vitest";
import {
  leadingReason,
  reasonText,
  type SeedWaitingReason,
  seedWaitingReason,
  type WaitingReason,
  waitingReasonFromText,
  waitingReasons,
} from "../../src/domain/seed-tables/waiting-reason.ts";
import { type TicketKind, ticketVerbs } from "../../src/domain/ticket.ts";

const seedReasons: Record<WaitingReason, SeedWaitingReason> = {
  input: "user_input",
  auth: "tool_permission",
  approval: "tool_permission",
  background: "background_tasks",
  "rate-limit": "rate_limit",
  pause: "manual_pause",
  child: "external_event",
  timer: "external_event",
  "unknown-outcome": "external_event",
  event: "external_event",
  quarantined: "external_event",
  "missing-capability": "external_event",
  budget: "external_event",
};

test.each(Object.entries(seedReasons))("M3 %s is %s", (reason, seed) => {
  expect(seedWaitingReason(reason as WaitingReason)).toBe(seed);
});

test("M3 is total: thirteen reasons, among them every kind of ticket", () => {
  expect([...waitingReasons].sort()).toEqual(Object.keys(seedReasons).sort());
  expect(waitingReasons).toHaveLength(13);
  const kinds: readonly WaitingReason[] = Object.keys(ticketVerbs) as TicketKind[];
  for (const kind of kinds) expect(waitingReasons).toContain(kind);
});

test("XA-07 the six reasons of the seed are all reached", () => {
  const six = ["background_tasks", "external_event", "manual_pause", "rate_limit", "tool_permission", "user_input"];
  expect([...new Set(waitingReasons.map(seedWaitingReason))].sort()).toEqual(six);
});

const read: readonly [string | undefined, WaitingReason, SeedWaitingReason][] = [
  ["input_required", "input", "user_input"],
  ["user_input_required", "input", "user_input"],
  ["auth_required", "auth", "tool_permission"],
  ["suspended", "approval", "tool_permission"],
  ["awaiting_tasks", "background", "background_tasks"],
  ["rate_limit", "rate-limit", "rate_limit"],
  ["manual_pause", "pause", "manual_pause"],
  ["something else", "event", "external_event"],
  ["", "event", "external_event"],
  ["__proto__", "event", "external_event"],
  ["toString", "event", "external_event"],
  [undefined, "event", "external_event"],
];

test.each(read)("B-089 the text %s of a remote is our %s and the seed's %s", (text, ours, seed) => {
  expect(waitingReasonFromText(text)).toBe(ours);
  expect(seedWaitingReason(waitingReasonFromText(text))).toBe(seed);
});

test("B-089 a text we give is read back as the same reason, an unknown outcome as the approval it looks like", () => {
  for (const reason of waitingReasons) {
    const text = reasonText(reason);
    const expected = reason === "unknown-outcome" ? "approval" : reason;
    if (text !== undefined) expect(waitingReasonFromText(text)).toBe(expected);
  }
});

test("one reason stands for several: what a person can answer comes first, whatever the order", () => {
  expect(leadingReason(["timer", "rate-limit", "approval"])).toBe("approval");
  expect(leadingReason(["approval", "input"])).toBe("input");
  expect(leadingReason(["timer", "background"])).toBe("background");
  expect(leadingReason(["budget"])).toBe("budget");
  expect(leadingReason([])).toBe("event");
});
