/** What the other side says may repeat what was sent to it. The endpoint's credentials get into no error and no result. */
import type { BackendResult } from "../../domain/backend/result.ts";
import { secretMark } from "../../domain/secret.ts";

export type Hide = (text: string) => string;

/** Shorter values are words that any text may have in it. */
const shortest = 6;

/** Longest first: `Bearer x` before `x`. */
export function hidingOf(credentials: readonly string[]): Hide {
  const hidden = credentials.filter(({ length }) => length >= shortest).sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((said, each) => said.replaceAll(each, secretMark), text);
}

/** As it would be written: a credential inside a key or a list is found there too. */
export function hiddenIn(result: BackendResult, hide: Hide): BackendResult {
  const written = JSON.stringify(result);
  const hidden = hide(written);
  return hidden === written ? result : (JSON.parse(hidden) as BackendResult);
}
