/** Collects every problem of an options record, so that one error names them all (L8) and no option is ignored (L9). */
import { type ErrorCode, HoldfastError } from "./errors.ts";

export function isFunction(value: unknown): value is (...args: never[]) => unknown {
  return typeof value === "function";
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : typeof value;
}

/** A name for a message, whatever was given as one. */
export function shown(name: unknown): string {
  return typeof name === "string" ? JSON.stringify(name) : `(${typeof name})`;
}

export class Problems {
  readonly #found: string[] = [];
  readonly #options: Readonly<Record<string, unknown>>;

  constructor(options: unknown, known: readonly string[]) {
    const isRecord = typeof options === "object" && options !== null && !Array.isArray(options);
    this.#options = isRecord ? (options as Record<string, unknown>) : {};
    if (!isRecord) this.add(`options must be an object, got ${kindOf(options)}`);
    for (const key of Object.keys(this.#options)) {
      if (!known.includes(key)) this.add(`${key}: unknown option; known are ${known.join(", ")}`);
    }
  }

  get found(): readonly string[] {
    return this.#found;
  }

  get count(): number {
    return this.#found.length;
  }

  add(problem: string): void {
    this.#found.push(problem);
  }

  check(name: string, fits: (value: unknown) => boolean, rule: string): void {
    if (!fits(this.#options[name])) this.add(`${name}: ${rule}`);
  }

  optional(name: string, fits: (value: unknown) => boolean, rule: string): void {
    if (this.#options[name] !== undefined) this.check(name, fits, rule);
  }

  oneOf(name: string, allowed: readonly string[]): void {
    this.optional(name, (value) => allowed.includes(value as string), `must be one of ${allowed.join(", ")}`);
  }

  integer(name: string, least: number, most: number): void {
    const fits = (value: unknown): boolean =>
      Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
    this.optional(name, fits, `must be a whole number from ${least} to ${most}`);
  }

  /** Takes over what was found inside a nested record. */
  include(name: string, inner: Problems): void {
    for (const problem of inner.#found) this.add(`${name}.${problem}`);
  }

  refuse(code: ErrorCode, what: string): void {
    if (this.#found.length > 0) throw new HoldfastError(code, what, { problems: this.#found });
  }
}
