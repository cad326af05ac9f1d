/** What a start comes to on a thread whose run is not done: the whole table as data. */
import type { TicketKind } from "../../src/domain/ticket.ts";

/** How the thread's run stands when the next message comes. */
/** A run that no worker can take up stands like one in quarantine, one that waits for a child like one on a timer. */
export type RunStands =
  | "created"
  | "model"
  | "tool"
  | Exclude<TicketKind, "missing-capability" | "child" | "background" | "auth">;

export type Choice = "default" | "queue" | "steer" | "interrupt" | "supersede" | "reject";

/**
 * queued: a run of its own, behind those that are queued · answers: the message answers the open question ·
 * steered: the message is an input of the run that is there · interrupted, superseded: that run is cancelled, and the
 * new one is next · busy: refused with the run and its tickets, nothing is written.
 */
export type Answer = "queued" | "answers" | "steered" | "interrupted" | "superseded" | "busy";

const always = {
  queue: "queued",
  steer: "steered",
  interrupt: "interrupted",
  supersede: "superseded",
  reject: "busy",
} as const;

export const busyTable: Readonly<Record<RunStands, Readonly<Record<Choice, Answer>>>> = {
  created: { default: "queued", ...always },
  model: { default: "queued", ...always },
  tool: { default: "queued", ...always },
  approval: { default: "busy", ...always },
  input: { default: "answers", ...always },
  "unknown-outcome": { default: "busy", ...always },
  pause: { default: "busy", ...always },
  timer: { default: "busy", ...always },
  quarantined: { default: "busy", ...always },
};

/** What the run's one call comes to when another run takes its thread; none where it has not called anything. */
export const closedCall: Readonly<Record<RunStands, string | undefined>> = {
  created: undefined,
  model: undefined,
  tool: "aborted",
  approval: "not-run",
  input: "not-run",
  "unknown-outcome": "outcome-unknown",
  pause: undefined,
  timer: undefined,
  quarantined: undefined,
};

export interface Cell {
  readonly stands: RunStands;
  readonly choice: Choice;
  readonly answer: Answer;
}

export const cells: readonly Cell[] = Object.entries(busyTable).flatMap(([stands, row]) =>
  Object.entries(row).map(([choice, answer]) => ({ stands: stands as RunStands, choice: choice as Choice, answer })),
);

const words: Readonly<Record<RunStands, string>> = {
  created: "is created",
  model: "has its model in flight",
  tool: "has a tool in flight",
  approval: "waits on an approval",
  input: "waits on an answer",
  "unknown-outcome": "waits on an unknown outcome",
  pause: "is paused",
  timer: "waits on a timer",
  quarantined: "is quarantined",
};

const comesTo: Readonly<Record<Answer, string>> = {
  queued: "is queued",
  answers: "answers the question",
  steered: "goes to its inbox",
  interrupted: "interrupts it and is next",
  superseded: "supersedes it and is next",
  busy: "is refused by name",
};

export function titleOf({ stands, choice, answer }: Cell): string {
  return `the run ${words[stands]}, ${choice}: the message ${comesTo[answer]}`;
}
