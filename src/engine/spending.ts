/** What an attempt has used up, as far as it was counted. */
import type { Settled } from "../domain/entry.ts";
import { costOf, isMetered } from "../domain/ledger.ts";
import type { AnsweredBy } from "../domain/model.ts";
import { describedFor } from "./called-model.ts";
import type { Draft } from "./draft.ts";
import type { ModelOutcome } from "./work.ts";

type Replied = Extract<ModelOutcome, { kind: "reply" }>;

/** What was counted, by whom, and what it cost by that one's prices. */
export function spendingOf(
  draft: Draft,
  { usage, answeredBy }: Pick<Replied, "usage" | "answeredBy">,
  of: "step" | "summary" = "step",
): Pick<Extract<Settled, { kind: "done" }>, "usage" | "cost" | "answeredBy"> {
  const called = of === "summary" ? draft.at.summariser : describedFor(draft);
  const { prices = called.prices } = answeredBy ?? {};
  const isOther = of === "step" && !isSameModel(called, draft.at.model);
  const by = answeredBy ?? (isOther ? called : undefined);
  const isPaid = usage && isMetered(draft.state.created.budget);
  return {
    ...(usage ? { usage } : {}),
    ...(isPaid ? { cost: costOf(usage, prices) } : {}),
    ...(by ? { answeredBy: { provider: by.provider, model: by.model } } : {}),
  };
}

function isSameModel(one: AnsweredBy, other: AnsweredBy): boolean {
  return one.provider === other.provider && one.model === other.model;
}
