/** What stands in the thread for an answer that is not let through (L3 of let-out). */
import { replyId } from "../domain/ids.ts";
import type { Message } from "../domain/message.ts";
import { type Draft, emit } from "./draft.ts";

/** Used by the finaliser, so it does not resume a waiting run by itself. */
export function withhold(draft: Draft, why: string): void {
  const { step, created } = draft.state;
  if (!step?.pending) return;
  const { run } = created.identity;
  const message: Message = {
    id: replyId(run, step.step),
    role: "assistant",
    parts: [{ type: "text", text: `[The answer is withheld: ${why}]` }],
    visibility: "all",
    producer: { run, step: step.step },
  };
  emit(draft, { type: "message-appended", body: { kind: "here", message }, gate: "withheld" });
}
