/**
 * What a provider says, without what it may not say: servers and gateways repeat the headers and addresses that they were
 * sent.
 *
 * H1 A value that was given here is hidden in every spelling: as it is, escaped as in JSON (also `\/`, also twice), encoded
 *    as in an address, or any mix of these.
 * H2 What stands beside the name of a credential is hidden, also when nobody here knows the value.
 * H3 Nothing is cut before it was looked at, so no piece of a value is left at an edge.
 */
import { secretMark } from "../../domain/secret.ts";

/** Far more than is shown of any text. */
const longest = 50_000;

export type Conceal = (text: string) => string;

export function createConceal(values: readonly string[]): Conceal {
  // The longest first: one value may be a part of another.
  const known = [...new Set(values.map((value) => value.trim()))].filter((value) => value !== "");
  known.sort((a, b) => b.length - a.length);
  const given = known.length === 0 ? undefined : new RegExp(known.map(anySpelling).join("|"), "g");
  return (text) => {
    const seen = text.slice(0, longest);
    const without = given ? seen.replaceAll(given, secretMark) : seen; // H1
    return without.replaceAll(besideName, hidden).replaceAll(inAddress, hidden); // H2
  };
}

/** H1. Backslashes in a row are one piece: a pattern of one by one would try every way to share them out. */
function anySpelling(value: string): string {
  const pieces = value.match(/\\+|[^\\]/gs) ?? [];
  return pieces.map((piece) => (piece.startsWith("\\") ? backslashes(piece.length) : spellingsOf(piece))).join("");
}

function backslashes(count: number): string {
  return `(?:\\\\{${count},${count * 4}}|(?:%5[cC]){${count}}|(?:\\\\{1,3}u005[cC]){${count}})`;
}

function spellingsOf(char: string): string {
  const code = char.charCodeAt(0).toString(16).padStart(4, "0");
  const percent = encodeURIComponent(char.isWellFormed() ? char : "?").replace(/^[^%]$/, `%${code.slice(2)}`);
  const ways = [
    /[a-z0-9]/i.test(char) ? char : `\\\\{0,3}\\u${code}`,
    anyCase(percent),
    `\\\\{1,3}u${anyCase(code)}`,
    ...(char === " " ? ["\\+"] : []),
  ];
  return `(?:${ways.join("|")})`;
}

/** Hex digits are written either way. */
function anyCase(hex: string): string {
  return hex.replaceAll(/[a-f]/gi, (digit) => `[${digit.toLowerCase()}${digit.toUpperCase()}]`);
}

const quote = String.raw`(?:\\{0,3}["'\x60]|%22|%27|&quot;)`;
const name = String.raw`(?<![\w-])[\w-]{0,60}(?:authorization|api[-_ ]?key|(?:access|auth)token|[-_](?:key|token|secret|auth|signature)|cookie|password|credentials?)`;
const between = String.raw`(?:${quote}?\s{0,3}(?:[:=]|%3[aA]|%3[dD])(?:\s|%20|\[){0,3}${quote}?|${quote}\s{0,3},\s{0,3}${quote})`;
const word = String.raw`(?:(?!%22|%27|&quot;)[^\s"'\x60\\,;&<>\[\](){}]|\\{1,3}/)`;
const scheme = String.raw`(?:(?:bearer|basic|token|apikey|digest|negotiate)(?:\s|%20|\+)+)?`;
const value = String.raw`(?!${scheme}\[?secret\])${scheme}${word}+(?:;\s?${word}+)*`;

/** Of a header or a field, in JSON, in lines, or as other languages print their maps. */
const besideName = new RegExp(`(${name}${between})${value}`, "gi");
/** Of a query. */
const inAddress = /([?&](?:key|token|sig|auth|secret)=)[^&\s"'<>]+/gi;

function hidden(_all: string, before: string): string {
  return before + secretMark;
}
