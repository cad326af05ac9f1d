/** What a person wants to be remembered: the value of an approval, `{ remember, what?, forMs? }`. */
import type { JsonValue } from "../../domain/json.ts";
import type { Remember, RememberedThing, RememberScope } from "./config.ts";

/** `ticket.approve({ value: { remember: "thread", what: "tool", forMs: 600_000 } })`; a type, so that it is JSON. */
export type RememberWish = {
  readonly remember: RememberScope;
  /** `input` unless said: exactly this call, and nothing wider. */
  readonly what?: RememberedThing;
  readonly forMs?: number;
};

export type ReadWish =
  | { readonly kind: "none" }
  | { readonly kind: "wish"; readonly wish: Required<RememberWish> }
  | { readonly kind: "unfit"; readonly problem: string };

const fields = ["remember", "what", "forMs"];

/** A value that does not speak of `remember` is somebody else's: tools may read it too. */
export function readWish(value: JsonValue | undefined, allowed: Remember | undefined): ReadWish {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "remember")) return { kind: "none" };
  if (!allowed) return unfit("the config of permissions has no remember, so nothing is");
  const { remember, what = "input", forMs = allowed.defaultMs } = value as unknown as RememberWish;
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined) return unfit(`${unknown}: unknown; known are ${fields.join(", ")}`);
  if (!allowed.scopes.includes(remember)) return unfit(`remember: allowed are ${allowed.scopes.join(", ")}`);
  if (!allowed.what.includes(what)) return unfit(`what: allowed are ${allowed.what.join(", ")}`);
  if (!Number.isInteger(forMs) || forMs < 1 || forMs > allowed.maxMs) {
    return unfit(`forMs: must be a whole number from 1 to ${allowed.maxMs}`);
  }
  return { kind: "wish", wish: { remember, what, forMs } };
}

function unfit(problem: string): ReadWish {
  return { kind: "unfit", problem };
}
