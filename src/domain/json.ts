/** JSON as a value, and the one door through which foreign values (tool results, answers) become JSON. */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

export type JsonCheck =
  | { readonly ok: true; readonly value: JsonValue; readonly bytes: number }
  | { readonly ok: false; readonly path: string; readonly problem: string };

export interface JsonLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/** One value in the journal is at most this big. */
export const valueLimits: JsonLimits = { maxBytes: 1024 * 1024, maxDepth: 64 };

class NotJson {
  readonly #mine = true;
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    this.path = path;
    this.problem = problem;
  }

  /** Not instanceof: what a foreign getter throws may throw again when its prototype is asked for. */
  static is(value: unknown): value is NotJson {
    return typeof value === "object" && value !== null && #mine in value;
  }
}

/** What hides itself is told by this, also from another install; see secret.ts. */
export const secretBrand = Symbol.for("holdfast.secret");

/** Strict: says what and where instead of dropping functions, cycles, NaN or lone surrogates silently. */
export function toJson(value: unknown, limits: JsonLimits = valueLimits): JsonCheck {
  try {
    const json = convert(value, { path: "$", depth: 0, seen: new Set(), limits, room: roomOf(limits) });
    const bytes = Buffer.byteLength(JSON.stringify(json));
    if (bytes > limits.maxBytes) {
      return { ok: false, path: "$", problem: `${bytes} bytes of JSON, the limit is ${limits.maxBytes}` };
    }
    return { ok: true, value: json, bytes };
  } catch (cause) {
    if (NotJson.is(cause)) return { ok: false, path: cause.path, problem: cause.problem };
    return { ok: false, path: "$", problem: `reading the value threw: ${messageOf(cause)}` };
  }
}

interface Walk {
  readonly path: string;
  readonly depth: number;
  readonly seen: Set<object>;
  readonly limits: JsonLimits;
  /** What is far too large is told before it is written out; a small value that shares its parts may unfold for ever. */
  readonly room: { values: number; characters: number };
}

/** More values than this are refused, however few bytes each has: to look at them takes longer than a lease. */
const mostValues = 1024 * 1024;

function roomOf({ maxBytes }: JsonLimits): Walk["room"] {
  return { values: Math.min(maxBytes, mostValues), characters: 2 * maxBytes };
}

function convert(value: unknown, walk: Walk): JsonValue {
  const { room, limits } = walk;
  room.values -= 1;
  if (typeof value === "string") room.characters -= value.length;
  if (room.values < 0 && limits.maxBytes > mostValues) throw new NotJson("$", `more than ${mostValues} values`);
  if (room.values < 0 || room.characters < 0) throw new NotJson("$", `more than ${limits.maxBytes} bytes of JSON`);
  switch (typeof value) {
    case "undefined":
      return null;
    case "boolean":
      return value;
    case "string":
      if (!value.isWellFormed()) throw new NotJson(walk.path, "a string with a lone surrogate");
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new NotJson(walk.path, `the number ${value}`);
      return value + 0; // JSON has no -0
    case "object":
      return value === null ? null : convertObject(value, walk);
    default:
      throw new NotJson(walk.path, `a ${typeof value}`);
  }
}

function convertObject(value: object, walk: Walk): JsonValue {
  if (walk.seen.has(value)) throw new NotJson(walk.path, "a cycle");
  if (walk.depth >= walk.limits.maxDepth) throw new NotJson(walk.path, `nesting deeper than ${walk.limits.maxDepth}`);
  if (secretBrand in value) throw new NotJson(walk.path, "a secret, which is not written down");
  walk.seen.add(value);
  try {
    if ("toJSON" in value && typeof value.toJSON === "function") {
      return convert(value.toJSON(), { ...walk, depth: walk.depth + 1 });
    }
    if (value instanceof Map || value instanceof Set || value instanceof Error) {
      throw new NotJson(walk.path, `a ${value.constructor.name}, which has no JSON form`);
    }
    if (Array.isArray(value)) return Array.from(value, (item, i) => convert(item, inside(walk, `[${i}]`)));
    return convertRecord(value, walk);
  } finally {
    walk.seen.delete(value);
  }
}

function convertRecord(value: object, walk: Walk): JsonValue {
  const pairs: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    if (!key.isWellFormed()) throw new NotJson(walk.path, "a key with a lone surrogate");
    pairs.push([key, convert(item, inside(walk, `.${key}`))]);
  }
  // fromEntries defines own properties, so a "__proto__" key stays data and touches no prototype.
  return Object.fromEntries(pairs);
}

function inside(walk: Walk, step: string): Walk {
  return { ...walk, path: walk.path + step, depth: walk.depth + 1 };
}

/** What was thrown, in words, whatever it is: well-formed and not too long to be read. */
export function messageOf(cause: unknown): string {
  try {
    return shortened(String(carries(cause, "message") ? (cause as { message: unknown }).message : cause));
  } catch {
    return "a value that cannot be shown";
  }
}

const longestMessage = 16 * 1024;

/** Words from outside, fit for a journal. */
export function shortened(text: string): string {
  const said = text.length > longestMessage ? `${text.slice(0, longestMessage)}… (${text.length} characters)` : text;
  return said.toWellFormed();
}

/** Whether a foreign value has a key; one that throws when it is asked has none. */
export function carries(value: unknown, key: PropertyKey): boolean {
  try {
    return typeof value === "object" && value !== null && key in value;
  } catch {
    return false;
  }
}
