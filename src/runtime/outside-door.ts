/** What the front desk writes, it tells: after the write, and only as a hint. */
import type { Hint } from "../ports/bus.ts";
import type { Post, PostAnswer } from "../ports/store.ts";
import { type Desk, written } from "./desk.ts";

export async function post(what: Post, desk: Desk): Promise<PostAnswer> {
  // One key per act: the same word used for two tickets, or for a cancel and a message, means two acts.
  const subject = what.fact.type === "ticket-decided" ? `${what.fact.ticket}:` : "";
  const keyed = { ...what, key: `${what.fact.type}:${subject}${what.key}` };
  const answer = await written(`Posting ${what.fact.type} to run ${what.run}`, desk, () => desk.store.post(keyed));
  if (answer.kind === "posted") {
    const { scope, run, fact } = what;
    const { seq, at } = answer;
    tell({ scope, run, seq, entries: [{ seq, at, epoch: null, ...fact }] }, desk);
  }
  return answer;
}

export function tell(hint: Hint, desk: Desk): void {
  desk.bus.publish(hint).catch((cause: unknown) => {
    desk.logger.warn(`The bus did not take a hint for run ${hint.run}`, { cause: String(cause) });
  });
}
