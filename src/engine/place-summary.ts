/** A summary has come: it takes the place of what it stands for, or it is not taken (C1, C4, C5 of compact.ts). */
import type { Settled } from "../domain/entry.ts";
import { beginAt, type Candidates, decisionsOn, estimated, marked } from "../domain/fit-context.ts";
import type { Summary } from "../domain/history.ts";
import type { MessageId } from "../domain/ids.ts";
import { sumOf, tokensIn } from "../domain/measure.ts";
import type { Part } from "../domain/message.ts";
import { isMany } from "./compact.ts";
import { act, type Draft } from "./draft.ts";
import { ownMark } from "./own-mark.ts";
import type { ModelOutcome } from "./work.ts";

type Spending = Pick<Extract<Settled, { kind: "done" }>, "usage" | "cost" | "answeredBy">;

/** C4, C5. */
export function takeCompaction(draft: Draft, outcome: ModelOutcome, spending: Spending): void {
  const { effect, upTo } = draft.state.compaction ?? {};
  if (!effect?.open || upTo === undefined) return;
  const at = { effect: effect.id, attempt: effect.open.attempt };
  const settle = (result: Settled): void => act(draft, { type: "effect-settled", ...at, result });
  if (outcome.kind === "failed") {
    const { error, retry, begun } = outcome;
    return settle({ kind: "failed", error, retry, ...(begun ? { begun: true } : {}) });
  }
  if (outcome.kind !== "reply") return settle({ kind: outcome.kind });
  const placed = place(draft, { text: textOf(outcome.parts), upTo, isWhole: outcome.finish === "stop" });
  if (typeof placed === "string") {
    return settle({
      kind: "failed",
      error: { code: "model-refused", message: placed },
      retry: "never",
      begun: true,
      ...spending,
    });
  }
  settle({ kind: "done", finish: outcome.finish, ...spending });
  const { mark } = placed.after;
  if (!mark) return;
  const room = draft.at.room(draft.state);
  act(draft, {
    type: "context-projected",
    step: draft.state.step?.step ?? 0,
    mark,
    decisions: decisionsOn(placed.before, placed.after, { ...room, gone: "summarised" }),
    tokens: estimated(placed.after, room),
    limit: room.tokens,
    ...ownMark(draft),
  });
}

interface Told {
  readonly text: string;
  readonly upTo: MessageId;
  readonly isWhole: boolean;
}

/** The conversation with the summary in its place, or why there is none. */
function place(draft: Draft, { text, upTo, isWhole }: Told): { before: Candidates; after: Candidates } | string {
  if (!isWhole || text === "") return "The summary is not whole";
  const before = draft.at.candidates(draft.entries);
  const border = before.messages.findIndex(({ id }) => id === upTo) + 1;
  const [first] = before.messages;
  if (border === 0 || !first) return `The summary came too late: message ${upTo} is not sent any more`;
  const spec = draft.at.compacts;
  const isLost = spec === undefined || isMany({ spec, candidates: before, room: draft.at.room(draft.state) });
  const saves = isLost ? 0 : spec.saves;
  const previous = before.mark?.summary;
  const section = sumOf(before.messages.slice(0, border)) + tokensIn(previous?.text.length ?? 0);
  if (tokensIn(text.length) > section * (1 - saves)) return "The summary would save too little";
  const summary: Summary = {
    id: `${draft.state.compaction?.effect.id}.summary` as MessageId,
    text,
    of: {
      from: previous?.of.from ?? first.id,
      to: upTo,
      messages: (previous?.of.messages ?? 0) + border,
    },
    ...(previous ? { previous: previous.id } : {}),
  };
  const { ratio } = draft.at.room(draft.state);
  return { before, after: marked(beginAt(before, border), { summary, ratio }) };
}

function textOf(parts: readonly Part[]): string {
  return parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("")
    .trim();
}
