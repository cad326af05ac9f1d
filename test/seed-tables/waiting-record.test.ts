import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import type { TicketId } from "../../src/domain/ids.ts";
import type { RunStatus } from "../../src/domain/run.ts";
import {
  type SeedWaiting,
  seedTickets,
  type WaitingFacts,
  waitingRecord,
} from "../../src/domain/seed-tables/waiting-record.ts";
import type { TicketRecord } from "../../src/domain/ticket.ts";
import * as j from "../domain/journal.ts";

function recordOf(...tickets: readonly TicketRecord[]): SeedWaiting {
  const record = waitingRecord({ status: "waiting", tickets, waitingSince: 3 });
  if (!record) throw new Error("no waiting data");
  return record;
}

test.each(["created", "running", "waiting", "done"] as const)(
  "C-038 waiting data of a run that is %s",
  (status: RunStatus) => {
    const run: WaitingFacts = { status, tickets: [j.ticket()], waitingSince: 3 };
    expect(waitingRecord(run) !== undefined).toBe(status === "waiting");
  },
);

test("C-039 the reason is the ticket's own, in the seed's words; nothing known is an external event", () => {
  expect(recordOf(j.ticket("approval")).reason).toBe("tool_permission");
  expect(recordOf(j.ticket("input")).reason).toBe("user_input");
  expect(recordOf(j.ticket("pause")).reason).toBe("manual_pause");
  expect(recordOf(j.ticket("timer")).reason).toBe("external_event");
  expect(recordOf(j.ticket("quarantined")).reason).toBe("external_event");
  expect(recordOf(j.ticket("unknown-outcome")).reason).toBe("external_event");
  expect(recordOf().reason).toBe("external_event");
});

test("C-040 ids are in the tickets' order, the message is the reason text or absent", () => {
  const record = recordOf(j.ticket("approval", { of: j.call(2) }), j.ticket("approval", { of: j.call(1) }));
  expect(record.ticketIds).toEqual(record.tickets.map((ticket) => ticket.ticketId));
  expect(record.ticketIds).toEqual(["run-1.1.1.approval.1", "run-1.1.2.approval.1"]);
  expect(record.message).toBe("suspended");
  expect(recordOf(j.ticket("input")).message).toBe("input_required");
  expect(recordOf(j.ticket("timer"))).not.toHaveProperty("message");
});

test("C-041 since-dispatch is the claim under which the wait began, read from the journal", () => {
  expect(waitingRecord(foldAll(j.journal(...j.waiting())))?.sinceDispatch).toBe(j.epoch);
  expect(waitingRecord({ status: "waiting", tickets: [], waitingSince: null })?.sinceDispatch).toBeNull();
});

test("B-091 a wait remembers its claim by the same rule, local or remote", () => {
  const remote = j.journal(j.created(), j.runStarted, j.opened(j.ticket("timer")), j.runWaiting(j.ticket("timer")));
  expect(waitingRecord(foldAll(remote))?.sinceDispatch).toBe(j.epoch);
});

test("C-042 tickets come from calls that wait and from nothing else", () => {
  const state = foldAll(j.journal(...j.waiting()));
  expect(waitingRecord(state)?.tickets.map((ticket) => ticket.toolCallId)).toEqual(["run-1.1.0"]);
  const record = recordOf(j.ticket("pause"), j.ticket("timer"), j.ticket("quarantined"));
  expect(record).toMatchObject({ tickets: [], ticketIds: [] });
  expect(recordOf()).toMatchObject({ tickets: [], ticketIds: [] });
});

test("C-043 the ticket id is ours unless it is blank, else the call's", () => {
  const idOf = (id: string): string | undefined =>
    seedTickets([j.ticket("approval", { id: id as TicketId })])[0]?.ticketId;
  expect(idOf("ticket-1")).toBe("ticket-1");
  expect(idOf(" ticket-1 ")).toBe(" ticket-1 ");
  expect(idOf("")).toBe("run-1.1.0");
  expect(idOf(" \t\n")).toBe("run-1.1.0");
});

test("C-044 a ticket has id, call, tool, arguments, mode, reason and time in ms", () => {
  expect(seedTickets([j.ticket("input", { resume: "pass-decision-to-tool", openedAt: 456 })])).toStrictEqual([
    {
      ticketId: "run-1.1.0.input.1",
      toolCallId: "run-1.1.0",
      toolName: "refund",
      arguments: { cents: 5 },
      resumeMode: "pass_decision_to_tool",
      reason: "input",
      updatedAt: 456,
    },
  ]);
});

test("C-045 tickets are sorted by call, then by ticket", () => {
  const tickets = [
    j.ticket("approval", { of: j.call(2) }),
    j.ticket("approval", { of: j.call(0), generation: 2 }),
    j.ticket("unknown-outcome", { of: j.call(1) }),
    j.ticket("approval", { of: j.call(0), generation: 1 }),
  ];
  const ids = ["run-1.1.0.approval.1", "run-1.1.0.approval.2", "run-1.1.1.unknown-outcome.1", "run-1.1.2.approval.1"];
  expect(seedTickets(tickets).map((ticket) => ticket.ticketId)).toEqual(ids);
  expect(seedTickets([...tickets].reverse()).map((ticket) => ticket.ticketId)).toEqual(ids);
});

test("C-046 a call that waits for a decision that is its result is shown whole", () => {
  const id = "ticket-1" as TicketId;
  const ticket = j.ticket("approval", { id, resume: "use-decision-as-result", openedAt: 123 });
  expect(recordOf(ticket)).toStrictEqual({
    reason: "tool_permission",
    ticketIds: ["ticket-1"],
    tickets: [
      {
        ticketId: "ticket-1",
        toolCallId: "run-1.1.0",
        toolName: "refund",
        arguments: { cents: 5 },
        resumeMode: "use_decision_as_tool_result",
        reason: "approval",
        updatedAt: 123,
      },
    ],
    sinceDispatch: 3,
    message: "suspended",
  });
});

test("C-047 a ticket without an id of its own bears its call's", () => {
  const record = recordOf(j.ticket("approval", { id: "" as TicketId }));
  expect(record.ticketIds).toEqual(["run-1.1.0"]);
  expect(record.tickets[0]).toMatchObject({ ticketId: "run-1.1.0", toolCallId: "run-1.1.0" });
});
