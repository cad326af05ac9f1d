/** The config of a plugin: checked by its schema, fixed for its code, and written down for the manifest. */
import { type FoundSecret, secretIn } from "./config-secrets.ts";
import { type JsonValue, messageOf } from "./json.ts";
import type { ConfiguredPlugin } from "./plugin.ts";
import { isSecret } from "./secret.ts";
import { showIssues } from "./standard-schema.ts";

export type CheckedConfig =
  | {
      readonly ok: true;
      /** As its code gets it: data is a copy that nobody can change, what is code or alive stays what it is. */
      readonly config: unknown;
      /** As the manifest has it: functions and live objects are code, and only said to be there; so are secrets. */
      readonly declared: JsonValue;
    }
  | { readonly ok: false; readonly problem: string };

export function checkConfig({ name, config, code }: ConfiguredPlugin): CheckedConfig {
  if (!code.config) {
    if (config === undefined) return { ok: true, config: undefined, declared: null };
    return { ok: false, problem: `${name} takes no config` };
  }
  try {
    const result = code.config["~standard"].validate(config === undefined ? {} : config);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      return { ok: false, problem: `the config schema of ${name} must be synchronous` };
    }
    if (result.issues)
      return { ok: false, problem: `the config of ${name} does not fit: ${showIssues(result.issues)}` };
    const shown = declared(config ?? null, start());
    const found = secretIn(shown);
    if (found) return { ok: false, problem: tooOpen(name, found) };
    return { ok: true, config: fixed(result.value, start()), declared: shown };
  } catch (cause) {
    return { ok: false, problem: `checking the config of ${name} threw: ${messageOf(cause)}` };
  }
}

function tooOpen(name: string, { path, kind }: FoundSecret): string {
  return `the config of ${name} would be stored, and ${path} looks like ${kind}; give secret(…) or a function in its place`;
}

interface Walk {
  readonly depth: number;
  readonly room: { left: number };
}

const mostDepth = 64;
const mostValues = 100_000;

function start(): Walk {
  return { depth: 0, room: { left: mostValues } };
}

function inside({ depth, room }: Walk): Walk {
  room.left -= 1;
  if (depth >= mostDepth || room.left < 0) throw new RangeError("it is too large, too deep, or refers to itself");
  return { depth: depth + 1, room };
}

function fixed(value: unknown, walk: Walk): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((item) => fixed(item, inside(walk))));
  if (!isPlain(value)) return value;
  const fields = Object.entries(value);
  if (fields.some(([, field]) => typeof field === "function")) return value;
  return Object.freeze(Object.fromEntries(fields.map(([name, field]) => [name, fixed(field, inside(walk))])));
}

const code = "(code)";
const hidden = "(secret)";

/** What the manifest has of it is not all of it: a mark stands for code, or for a secret. */
export function hasCode(config: JsonValue): boolean {
  if (typeof config !== "object" || config === null) return config === code || config === hidden;
  return Object.values(config).some((inner) => hasCode(inner as JsonValue));
}

function declared(value: unknown, walk: Walk): JsonValue {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number") return Number.isFinite(value) ? value : code;
  if (Array.isArray(value)) return value.map((item) => declared(item, inside(walk)));
  if (!isPlain(value)) return isSecret(value) ? hidden : code;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name.toWellFormed(), declared(field, inside(walk))]));
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
