/** The outside door as the front desk uses it: post surely, then tell whoever runs it. */
import type { Post, PostAnswer } from "../ports/store.ts";
import { type Desk, surely } from "./desk.ts";

export async function post(what: Post, desk: Desk): Promise<PostAnswer> {
  const answer = await surely(`Posting ${what.fact.type} to run ${what.run}`, desk, () => desk.store.post(what));
  if (answer.kind === "posted") {
    desk.bus.publish({ scope: what.scope, run: what.run, seq: answer.seq }).catch((cause: unknown) => {
      desk.logger.warn(`The bus did not take a hint for run ${what.run}`, { cause: String(cause) });
    });
    desk.dispatcher?.wake(what.scope, what.run);
  }
  return answer;
}
