/**
 * Secret: a value that hides itself. Whoever needs it says so with `reveal()`; wherever else it turns up, it is a mark.
 *
 * S1 No way of writing an object down gives the value: text, JSON, inspection, keys, copies.
 * S2 It never becomes JSON of ours: what would be journaled with a mark in place of a key is refused, with its place.
 */
import { HoldfastError } from "./errors.ts";
import { carries, secretBrand } from "./json.ts";

export const secretMark = "[secret]";

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    if (typeof value !== "string" || value === "") {
      throw new HoldfastError("invalid-options", "A secret cannot be made", {
        problems: [`value: must be a string that is not empty, got ${value === "" ? '""' : typeof value}`],
      });
    }
    this.#value = value;
    Object.defineProperty(this, secretBrand, { value: true }); // not enumerable: it has no keys
    Object.freeze(this);
  }

  /** The value itself, for where it is used; keep it out of results and messages. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return secretMark;
  }

  toJSON(): string {
    return secretMark;
  }

  [Symbol.toPrimitive](): string {
    return secretMark;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return secretMark;
  }
}

export function secret(value: string): Secret {
  return new Secret(value);
}

/** Also of another install of this package. */
export function isSecret(value: unknown): value is Secret {
  return carries(value, secretBrand);
}
