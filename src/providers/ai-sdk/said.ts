/** An error of somebody else's code, read without trust: fields may be missing, wrong, or throw when they are looked at. */
import { messageOf } from "../../domain/json.ts";
import { recordIn, textIn } from "../shared/fields.ts";

export interface Said {
  /** The error's own name, such as AI_APICallError. */
  readonly name: string;
  readonly message: string;
  readonly status: number | undefined;
  readonly isRetryable: boolean | undefined;
  readonly headers: Headers;
  /** Types and codes that the provider or the network gave, in lower case. */
  readonly words: string;
  /** Without its query: a key may be in there. */
  readonly address: string | undefined;
}

export function readSaid(cause: unknown): Said {
  const status = read(cause, "statusCode") ?? read(cause, "status");
  const isRetryable = read(cause, "isRetryable");
  const headers = read(cause, "responseHeaders");
  const data = dataIn(cause);
  return {
    name: textIn(read(cause, "name")),
    message: messageIn(cause, data),
    status: Number.isInteger(status) ? (status as number) : undefined,
    isRetryable: typeof isRetryable === "boolean" ? isRetryable : undefined,
    headers: headersOf(headers),
    words: wordsIn([cause, data, ...causesOf(cause)]),
    address: addressOf(read(cause, "url")),
  };
}

function messageIn(cause: unknown, data: unknown): string {
  const said = textIn(read(cause, "message")) || textIn(read(data, "message"));
  if (said !== "") return said;
  return typeof cause === "string" ? messageOf(cause) : "it gave no reason";
}

/** The body of an error, `{ error: { type, code, message } }` in most wire formats, parsed by the provider or not. */
function dataIn(cause: unknown): unknown {
  const data = read(cause, "data") ?? parsed(read(cause, "responseBody"));
  return read(data, "error") ?? data ?? read(cause, "error");
}

function parsed(body: unknown): unknown {
  try {
    return typeof body === "string" ? JSON.parse(body) : undefined;
  } catch {
    return undefined;
  }
}

function wordsIn(places: readonly unknown[]): string {
  const words = places.flatMap((place) => [read(place, "type"), read(place, "code")]);
  return words
    .filter((word) => typeof word === "string" || typeof word === "number")
    .join(" ")
    .toLowerCase();
}

const deepest = 5;

function causesOf(cause: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let next = read(cause, "cause"); next && found.length < deepest; next = read(next, "cause")) found.push(next);
  return found;
}

function addressOf(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function read(value: unknown, key: string): unknown {
  try {
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
  } catch {
    return undefined;
  }
}

/** What cannot be a header is none. */
function headersOf(headers: unknown): Headers {
  const found = new Headers();
  for (const [name, value] of Object.entries(recordIn(headers))) {
    if (typeof value === "string" && /^[\w-]+$/.test(name)) found.set(name, value.replaceAll(/[^\x20-\x7e]/g, ""));
  }
  return found;
}
