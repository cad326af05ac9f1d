/** What differs between two manifests, in words that an operator reads. */

import type { DeclaredManifest } from "./declared-manifest.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { type FoundField, fieldsOf, manifestFields } from "./manifest-fields.ts";

/** One difference. A side that does not have it is undefined. */
export interface ManifestDifference {
  /** For example `tools[refund].inputSchema.properties.cents.maximum`. */
  readonly path: string;
  /** For example "the input schema of tool refund". */
  readonly what: string;
  readonly a: JsonValue | undefined;
  readonly b: JsonValue | undefined;
}

/** Of behavioural fields only: two manifests with the same fingerprint have none. */
export function diffManifests(a: DeclaredManifest, b: DeclaredManifest): readonly ManifestDifference[] {
  const before = byPath(a);
  const after = byPath(b);
  const gone = newItems(before, after);
  const fresh = newItems(after, before);
  const differences: ManifestDifference[] = [];
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(path), after.get(path)];
    const found = was ?? is;
    if (!found || isOfItem(found, gone, fresh)) continue;
    differences.push(...compare({ path, what: saysOf(found) }, was?.value, is?.value));
  }
  return [...differences, ...orderOf(a, b)];
}

/** `the version of tool refund: "1" → "2"`, as prompts and logs show it. */
export function showDifference({ path, what, a, b }: ManifestDifference): string {
  const where = isInside(path) ? ` at ${path}` : "";
  if (a === undefined && b !== undefined) return `${what}${where} is new`;
  if (b === undefined && a !== undefined) return `${what}${where} is gone`;
  return `${what}${where}: ${shown(a)} → ${shown(b)}`;
}

/** A part of a field: its words alone would say it of the whole. */
function isInside(path: string): boolean {
  return !Object.hasOwn(manifestFields, path.replace(/\[[^\]]*\]/, "[]"));
}

const longest = 80;

function shown(value: JsonValue | undefined): string {
  const text = value === undefined ? "none" : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

type Fields = ReadonlyMap<string, FoundField>;

function byPath(manifest: DeclaredManifest): Fields {
  const found = fieldsOf(manifest).filter(({ field }) => field?.class === "behavioural");
  return new Map(found.map((each) => [each.path, each]));
}

/** Items of lists that the other side does not have are one difference each, not one for each of their fields. */
function newItems(mine: Fields, theirs: Fields): ReadonlySet<string> {
  const items = [...mine.keys()].filter((path) => path.endsWith("].name") && !theirs.has(path));
  return new Set(items.map((path) => path.slice(0, -".name".length)));
}

function isOfItem({ path }: FoundField, ...sets: readonly ReadonlySet<string>[]): boolean {
  if (path.endsWith("].name")) return false;
  const item = path.slice(0, path.indexOf("]") + 1);
  return sets.some((set) => set.has(item));
}

function saysOf({ field, item, path }: FoundField): string {
  return (field?.says ?? path).replace("{item}", item ?? "");
}

interface Place {
  readonly path: string;
  readonly what: string;
}

/** Objects are looked into: of a schema only what really differs is named. */
function compare(place: Place, a: JsonValue | undefined, b: JsonValue | undefined): readonly ManifestDifference[] {
  if (isObject(a) && isObject(b)) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names]
      .sort()
      .flatMap((name) => compare({ ...place, path: `${place.path}.${name}` }, own(a, name), own(b, name)));
  }
  return isSame(a, b) ? [] : [{ ...place, a, b }];
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item: JsonValue, index) => isSame(item, b[index]));
  }
  if (isObject(a) && isObject(b)) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names].every((name) => isSame(own(a, name), own(b, name)));
  }
  return a === b;
}

/** Fields may be called `constructor`: what every object inherits is none of them. */
function own(record: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Plugins are asked in their order, so the order is behaviour. */
function orderOf(a: DeclaredManifest, b: DeclaredManifest): readonly ManifestDifference[] {
  const names = ({ plugins = [] }: DeclaredManifest, other: DeclaredManifest): readonly string[] =>
    plugins.map(({ name }) => name).filter((name) => other.plugins?.some((each) => each.name === name));
  const [was, is] = [names(a, b), names(b, a)];
  if (isSame([...was], [...is])) return [];
  return [{ path: "plugins", what: "the order in which plugins are asked", a: [...was], b: [...is] }];
}
