/** What an attempt has used up, as far as it was counted. */
import type { Settled } from "../domain/entry.ts";
import { costOf, isMetered } from "../domain/ledger.ts";
import type { AnsweredBy } from "../domain/model.ts";
import type { Draft } from "./draft.ts";
import type { ModelOutcome } from "./work.ts";

type Replied = Extract<ModelOutcome, { kind: "reply" }>;

/** What was counted, by whom, and what it cost by that one's prices. */
export function spendingOf(
  draft: Draft,
  { usage, answeredBy }: Pick<Replied, "usage" | "answeredBy">,
  of: "step" | "summary" = "step",
): Pick<Extract<Settled, { kind: "done" }>, "usage" | "cost" | "answeredBy"> {
  const own = of === "summary" ? draft.at.summariser : draft.at.model;
  const { prices = own.prices, ...names } = answeredBy ?? {};
  const isPaid = usage && isMetered(draft.state.created.budget);
  return {
    ...(usage ? { usage } : {}),
    ...(isPaid ? { cost: costOf(usage, prices) } : {}),
    ...(answeredBy ? { answeredBy: names as AnsweredBy } : {}),
  };
}
