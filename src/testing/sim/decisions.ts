/** What a simulated person answers. */
import type { TicketKind } from "../../domain/ticket.ts";
import type { OfferedDecision } from "../../runtime/runtime.ts";
import type { Random } from "./random.ts";

type Kind = Exclude<TicketKind, "timer" | "child" | "background">;

const edited = 1_000;

const choices: Readonly<Record<Kind, (random: Random) => OfferedDecision>> = {
  approval: (random) =>
    random.pick<OfferedDecision>([
      { kind: "approve" },
      { kind: "approve" },
      { kind: "edit", input: { n: edited + random.int(1_000), act: "ok" } },
      { kind: "edit", input: { n: "not a number" } },
      { kind: "reject", reason: "No" },
      { kind: "answer", value: { answered: random.int(1_000) } },
    ]),
  input: (random) => ({ kind: "answer", value: { answered: random.int(1_000) } }),
  auth: (random) => ({ kind: "answer", value: { answered: random.int(1_000) } }),
  "unknown-outcome": (random) =>
    random.pick<OfferedDecision>([
      { kind: "mark-done", result: { marked: random.int(1_000) } },
      { kind: "mark-failed", reason: "It did not happen" },
      { kind: "run-again" },
      { kind: "run-again" },
      { kind: "cancel-run" },
    ]),
  pause: (random) => random.pick<OfferedDecision>([{ kind: "release" }, { kind: "release" }, { kind: "cancel-run" }]),
  "missing-capability": (random) => random.pick<OfferedDecision>([{ kind: "release" }, { kind: "cancel-run" }]),
  quarantined: (random) => random.pick<OfferedDecision>([{ kind: "release" }, { kind: "cancel-run" }]),
};

export function chooseDecision(kind: TicketKind, random: Random): OfferedDecision {
  return choices[kind as Kind](random);
}

/** Answers that bring a run to its end. */
export function helpfulDecision(kind: TicketKind): OfferedDecision {
  switch (kind) {
    case "approval":
      return { kind: "approve" };
    case "input":
    case "auth":
      return { kind: "answer", value: { answered: 0 } };
    case "unknown-outcome":
      return { kind: "mark-done", result: { marked: 0 } };
    default:
      return { kind: "release" };
  }
}
