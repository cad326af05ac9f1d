/**
 * What a server, its program or the network says may repeat what was sent to it: headers, environment, arguments. None of it
 * may get into an error, a log or a status; secrets do not get into results either.
 */
import { messageOf } from "../../domain/json.ts";
import { isSecret, type Secret, secretMark } from "../../domain/secret.ts";
import type { McpServerOptions } from "./options.ts";

export interface Hiding {
  /** For errors and statuses: everything that was given to the server. */
  words(text: unknown): string;
  /** For results: secrets only, for another value may be a plain word. */
  result(text: string): string;
}

/** Shorter values are words that any text may have in it. */
const shortest = 6;

export function hidingOf({ stdio, http }: McpServerOptions): Hiding {
  const given = [...(stdio?.args ?? []), ...Object.values(stdio?.env ?? {}), ...Object.values(http?.headers ?? {})];
  const query = http ? new URL(http.url).searchParams.values() : [];
  const secrets = given.filter((value): value is Secret => isSecret(value)).flatMap((value) => pieces(value.reveal()));
  const texts = [...given.filter((value) => typeof value === "string"), ...query].flatMap(pieces);
  const all = longestFirst([...secrets, ...texts.filter((text) => text.length >= shortest)]);
  const hidden = longestFirst(secrets);
  return {
    words: (text) => replaceAll(messageOf(text), all),
    result: (text) => replaceAll(text, hidden),
  };
}

/** "Bearer abc" is hidden as it is, and where only "abc" is repeated. */
function pieces(value: string): readonly string[] {
  const last = value.split(/\s+/).at(-1) ?? "";
  return [value, ...(last.length >= shortest ? [last] : [])];
}

function longestFirst(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort((a, b) => b.length - a.length);
}

function replaceAll(text: string, values: readonly string[]): string {
  return values.reduce((said, value) => said.replaceAll(value, secretMark), text);
}

/** Where a server is, without what may be secret in it. */
export function placeOf({ stdio, http }: McpServerOptions): string {
  if (http) {
    const { origin, pathname } = new URL(http.url);
    return origin + pathname;
  }
  return stdio?.command ?? "";
}
