/** Internet addresses as numbers, so that every way of writing one is judged alike. */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export interface Range {
  readonly text: string;
  readonly base: Address;
  readonly prefix: number;
}

const bitsOf = { 4: 32, 6: 128 } as const;

/** Only the plain forms: a resolver answers no others, and an URL's host has been put into them by the URL class. */
export function parseAddress(text: string): Address | undefined {
  const four = parseFour(text);
  if (four !== undefined) return { family: 4, value: four };
  const six = parseSix(text);
  return six === undefined ? undefined : { family: 6, value: six };
}

function parseFour(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return;
  return parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function parseSix(text: string): bigint | undefined {
  const whole = dottedTail(text);
  const halves = whole?.split("::") ?? [];
  if (halves.length === 0 || halves.length > 2) return;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return;
  const groups = [...head, ...Array<string>(missing).fill("0"), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return;
  return groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}

/** `::ffff:127.0.0.1` is written as `::ffff:7f00:1`. */
function dottedTail(text: string): string | undefined {
  const colon = text.lastIndexOf(":");
  if (colon < 0) return;
  const tail = text.slice(colon + 1);
  if (!tail.includes(".")) return text;
  const four = parseFour(tail);
  if (four === undefined) return;
  return `${text.slice(0, colon + 1)}${(four / 65536n).toString(16)}:${(four % 65536n).toString(16)}`;
}

/** `10.0.0.0/8`, or an address alone, which is a range of one. */
export function parseRange(text: string): Range | undefined {
  const [start = "", length, ...rest] = text.split("/");
  const base = parseAddress(start);
  if (base === undefined || rest.length > 0) return;
  const bits = bitsOf[base.family];
  const prefix = length === undefined ? bits : Number(/^\d{1,3}$/.test(length) ? length : Number.NaN);
  return prefix >= 0 && prefix <= bits ? { text, base, prefix } : undefined;
}

export function contains({ base, prefix }: Range, address: Address): boolean {
  const rest = BigInt(bitsOf[base.family] - prefix);
  return base.family === address.family && base.value >> rest === address.value >> rest;
}

const embedded = ["::ffff:0:0/96", "64:ff9b::/96"].map(knownRange);

/** An IPv4 address inside an IPv6 one (mapped, or translated by NAT64) goes where the IPv4 address goes. */
export function unwrapped(address: Address): Address {
  const isEmbedded = embedded.some((range) => contains(range, address));
  return isEmbedded ? { family: 4, value: address.value % 2n ** 32n } : address;
}

/** For the tables of this folder. */
export function knownRange(text: string): Range {
  const range = parseRange(text);
  if (range === undefined) throw new RangeError(`${text} is no range of addresses`);
  return range;
}
