/**
 * A reply that broke off: what of it counts, and how the next attempt goes on. What was told to watchers is not thrown away
 * when a model can go on from it.
 *
 * | what has come                | what is done                                                            |
 * |------------------------------|-------------------------------------------------------------------------|
 * | a call that is whole         | the reply is what has come; its whole calls run, one that was open does not |
 * | text, with or without a call that was open | the text is kept, and the model is asked to go on from it |
 * | nothing                      | the call is made again                                                  |
 *
 * Y1 No call runs but one that the provider has given whole; every one that it has given whole does.
 * Y2 The stored text is what had come before and what came then, and nothing else; watchers are told both anew.
 * Y3 A reply that broke its protocol is not trusted: nothing of it is kept.
 */
import type { HoldfastError } from "../domain/errors.ts";
import type { MessageId } from "../domain/ids.ts";
import { shortened } from "../domain/json.ts";
import type { Message, Part, TextPart } from "../domain/message.ts";
import type { OutputSpec } from "../domain/output.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ModelRequest } from "../ports/provider.ts";
import type { ModelOutcome } from "./work.ts";

type Failed = Extract<ModelOutcome, { kind: "failed" }>;
type Replied = Extract<ModelOutcome, { kind: "reply" }>;

/** What has come of a reply before its stream failed. */
export interface BrokenOff {
  readonly parts: readonly Part[];
  readonly error: HoldfastError;
  /** As it is settled when nothing counts. */
  readonly failed: Failed;
  /** A text that has come can be gone on from. */
  readonly goesOn: boolean;
}

export function recover({ parts, error, failed, goesOn }: BrokenOff): Replied | Failed {
  if (error.retry !== "later" || error.code === "model-malformed") return failed; // Y3
  if (parts.some(({ type }) => type === "tool-call")) {
    const cut = { code: error.code, message: shortened(error.message) };
    return { kind: "reply", parts, finish: "tool-calls", cut };
  }
  return goesOn && hasText(parts) ? { ...failed, kept: parts } : failed;
}

/** At its output limit, in the middle of a text that it can go on with. */
export function isTruncated({ parts, finish }: Pick<Replied, "parts" | "finish">, goesOn: boolean): boolean {
  return goesOn && finish === "length" && hasText(parts) && !parts.some(({ type }) => type === "tool-call");
}

/** A model that is bound to a schema begins anew each time; what may have to be withheld is not kept in pieces. */
export function mayGoOn(output: OutputSpec | undefined, isGated: boolean): boolean {
  return output?.mode !== "native" && !isGated;
}

function hasText(parts: readonly Part[]): boolean {
  return parts.some((part) => part.type === "text" && part.text.trim() !== "");
}

/** Y2: text that goes on is one text. */
export function joined(kept: readonly Part[] | undefined, parts: readonly Part[]): readonly Part[] {
  if (!kept || kept.length === 0) return parts;
  const last = kept.at(-1);
  const [first, ...rest] = parts;
  if (last?.type !== "text" || first?.type !== "text") return [...kept, ...parts];
  return [...kept.slice(0, -1), { ...last, ...first, text: last.text + first.text }, ...rest];
}

const goOn =
  "Your reply was cut off. Go on exactly where it ended: repeat nothing, do not apologise, and do not mention that it was cut.";

/** What has come, and the request to go on; what a vendor wants back with its reasoning is not whole, so that is left out. */
export function continuing(request: ModelRequest, state: RunState): ModelRequest {
  const kept = state.step?.model.kept;
  const texts = kept?.filter((part): part is TextPart => part.type === "text" && part.text !== "") ?? [];
  if (!kept || texts.length === 0) return request;
  const { run } = state.created.identity;
  const id = `${run}.${request.step}.kept`;
  const said: Message = { id: id as MessageId, role: "assistant", parts: texts, visibility: "all" };
  const asked: Message = {
    id: `${id}.go-on` as MessageId,
    role: "user",
    parts: [{ type: "text", text: goOn }],
    visibility: "internal",
  };
  return {
    ...request,
    messages: [...request.messages, said, asked],
    continues: texts.map(({ text }) => text).join(""),
  };
}
