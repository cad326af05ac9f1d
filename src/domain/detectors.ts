/**
 * Detectors of the house: what looks like a secret or like a person's number. Each begins at something rare and looks at
 * a bounded or ever new stretch from there, so that no text makes one slow.
 */
import type { Span } from "./patterns/spans.ts";

export interface Detector {
  /** Stands in the place of what it finds. */
  readonly name: string;
  /** Where it lies: from, and up to but without. */
  readonly find: (text: string) => Iterable<Span>;
}

export const detectorNames = ["api-key", "bearer-token", "private-key", "card", "iban", "email"] as const;
export type DetectorName = (typeof detectorNames)[number];

export const detectors: Readonly<Record<DetectorName, Detector["find"]>> = {
  "api-key": findKeys,
  "bearer-token": findTokens,
  "private-key": findPrivateKeys,
  card: findCards,
  iban: findIbans,
  email: findEmails,
};

// The look-behind lets each run of word characters be tried once, from its beginning.
const keys = [
  /(?<![\w-])(?:sk|pk|rk)[-_][\w-]{12,}/g,
  /(?<![\w-])(?:gh[opsur]|github_pat|hf|npm)_\w{12,}/g,
  /(?<![\w-])(?:glpat|xox[abeoprs])-[\w-]{10,}/g,
  /(?<![\w-])(?:AKIA|ASIA)[A-Z0-9]{16}(?![\w-])/g,
  /(?<![\w-])AIza[\w-]{30,}/g,
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g,
];

function* findKeys(text: string): Iterable<Span> {
  for (const key of keys) for (const { index, 0: found } of text.matchAll(key)) yield [index, index + found.length];
}

/** After "Bearer" or "Basic", and the password of an address like `postgres://user:password@host`. */
function* findTokens(text: string): Iterable<Span> {
  for (const { index, 0: all, 1: scheme = "" } of text.matchAll(/\b((?:bearer|basic)\s{1,4})[\w.~+/=-]{6,}/gi)) {
    yield [index + scheme.length, index + all.length];
  }
  for (const { index } of text.matchAll(/:\/\//g)) {
    const login = /^[^\s/@:]{0,256}:([^\s/@]{1,256})@/.exec(text.slice(index + 3, index + 520));
    if (login) yield [index + 3 + login[0].length - 1 - (login[1]?.length ?? 0), index + 3 + login[0].length - 1];
  }
}

/** One without an end is hidden to the end of the text. */
function* findPrivateKeys(text: string): Iterable<Span> {
  const begin = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY/g;
  for (let found = begin.exec(text); found; found = begin.exec(text)) {
    const end = text.indexOf("-----END ", found.index);
    const close = end < 0 ? -1 : text.indexOf("-----", end + 9);
    const to = close < 0 ? text.length : close + 5;
    yield [found.index, to];
    begin.lastIndex = to;
  }
}

/** 14 to 19 digits, alone or in groups, whose last one checks the others (Luhn). */
function* findCards(text: string): Iterable<Span> {
  for (const { index } of text.matchAll(/(?<![\p{L}\d_])[2-6](?=\d(?:[ -]?\d){12})/gu)) {
    const to = longest(text, { from: index, most: 19, fits: (digits) => digits.length >= 14 && isLuhn(digits) });
    if (to !== undefined) yield [index, to];
  }
}

function* findIbans(text: string): Iterable<Span> {
  for (const { index } of text.matchAll(/(?<![\p{L}\d_])[A-Z]{2}\d{2}(?=[ ]?[A-Z0-9])/gu)) {
    const to = longest(text, { from: index, most: 34, fits: (chars) => chars.length >= 15 && isIban(chars) });
    if (to !== undefined) yield [index, to];
  }
}

interface Wanted {
  readonly from: number;
  /** Characters, without the separators between them. */
  readonly most: number;
  readonly fits: (chars: string) => boolean;
}

/** Where the longest one that fits ends: before a separator or something that is neither letter nor digit. */
function longest(text: string, { from, most, fits }: Wanted): number | undefined {
  let chars = "";
  let end: number | undefined;
  for (let at = from; chars.length < most; at += 1) {
    if ((text[at] === " " || text[at] === "-") && chars !== "") at += 1;
    const char = text[at] ?? "";
    if (!/[A-Z0-9]/.test(char)) break;
    chars += char;
    if (!/[\p{L}\d_]/u.test(text[at + 1] ?? "") && fits(chars)) end = at + 1;
  }
  return end;
}

function isLuhn(digits: string): boolean {
  if (!/^\d+$/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** ISO 13616: letters count from 10, the first four go to the end, and 97 leaves 1. */
function isIban(chars: string): boolean {
  let rest = 0;
  for (const char of chars.slice(4) + chars.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** From each "@" in both directions, at most as far as an address may be long. */
function* findEmails(text: string): Iterable<Span> {
  for (const { index: at } of text.matchAll(/@/g)) {
    const name = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}$/u.exec(text.slice(Math.max(0, at - 64), at));
    const host = /^[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/u.exec(text.slice(at + 1, at + 256));
    if (name && host) yield [at - name[0].length, at + 1 + host[0].length];
  }
}
