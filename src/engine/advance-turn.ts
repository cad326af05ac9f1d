/**
 * Moves a remote turn, and says what its answer means for the run.
 *
 * X3 A turn whose outcome nobody knows is not sent again: the other side is asked, and where it cannot say, a person is.
 * X4 What the other side waits for is a ticket, and its answer is the next turn of the same task. Nothing begins before.
 */
import { isRemoteTicket, textOfAnswer } from "../domain/apply-remote.ts";
import { type Ruling, rulingOf } from "../domain/backend/ruling.ts";
import type { MessageId } from "../domain/ids.ts";
import type { Message } from "../domain/message.ts";
import type { Outcome } from "../domain/run.ts";
import type { RunState, StepState } from "../domain/run-state.ts";
import { act, type Draft, resume, wakeBy } from "./draft.ts";
import { openRemoteTicket } from "./tickets.ts";

/** undefined: the turn may be intended. */
export function moveTurn(draft: Draft, { model }: StepState): Outcome | "waiting" | undefined {
  const { open, last, id: effect } = model;
  if (open?.epoch === draft.at.epoch) return "waiting";
  if (open) {
    const { attempt, timeoutMs, startBy } = open;
    resume(draft);
    draft.start.push({ kind: "look", effect, attempt, timeoutMs, certainAt: startBy + timeoutMs }); // X3
    return "waiting";
  }
  if (last?.kind === "unknown" || last?.kind === "aborted") {
    const why = last.kind === "unknown" ? last.why : "it was aborted";
    askAboutUnknown(draft, why, last.kind === "unknown" ? last.decidableFrom : undefined);
    return "waiting";
  }
  if (last?.kind !== "failed") return undefined;
  if (last.retryAt === undefined) return { kind: "failed", error: last.error, retry: last.retry };
  if (last.retryAt <= draft.at.now) return undefined;
  wakeBy(draft, last.retryAt);
  return "waiting";
}

function askAboutUnknown(draft: Draft, why: string, decidableFrom: number | undefined): void {
  const { remote, tickets } = draft.state;
  if (!remote || tickets.some(isRemoteTicket)) return;
  const { message, context } = remote.turn;
  const task = remote.task ? `task ${remote.task.task}` : "no task was seen";
  const prompt = `Remote unknown: nobody knows what became of message ${message} (context ${context}, ${task}) at backend ${draft.at.remote?.name ?? "?"}: ${why}`;
  openRemoteTicket(draft, { kind: "unknown-outcome", prompt, decidableFrom });
}

/** What the last turn of the step came to; undefined for a run that executes here. */
export function rulingNow({ state, at }: Pick<Draft, "state" | "at">): Ruling | undefined {
  const last = state.step?.model.last;
  if (!at.remote || last?.kind !== "done" || !last.remote) return undefined;
  return rulingOf(last.remote, at.remote.capabilities.waits);
}

/** X4. */
export function waitsElsewhere(draft: Draft): boolean {
  const ruling = rulingNow(draft);
  if (ruling?.kind !== "waits" || draft.state.remote?.answer) return false;
  if (draft.state.tickets.some(isRemoteTicket)) return true;
  const prompt =
    ruling.prompt ?? `Agent ${draft.state.created.identity.agent} waits for ${ruling.on}; see what it said last`;
  openRemoteTicket(draft, { kind: ruling.on, prompt });
  return true;
}

/** The answer is a message of the thread, in the words of whoever gave it. */
export function sayAnswer(draft: Draft): void {
  const message = answerMessage(draft.state);
  if (message) act(draft, { type: "message-appended", body: { kind: "here", message } });
}

function answerMessage({ remote }: RunState): Message | undefined {
  if (!remote?.answer) return undefined;
  const { ticket, value } = remote.answer;
  return {
    id: `${ticket}.answer` as MessageId,
    role: "user",
    parts: [{ type: "text", text: textOfAnswer(value) }],
    visibility: "all",
  };
}
