/**
 * What goes wrong with a server, named once. The engine reads the name and decides about another try.
 *
 * X1 No key, no header's value and nothing of the query is in any message, whatever the server says and however it spells
 *    them.
 * X2 Every status and every word for an error has exactly one class.
 */
import { type ErrorCode, HoldfastError } from "../../domain/errors.ts";
import { messageOf, shortened } from "../../domain/json.ts";
import { createConceal } from "../shared/conceal.ts";
import { refusalClass } from "../shared/error-class.ts";
import { type Fields, isRecord, listIn, recordIn, textIn } from "../shared/fields.ts";
import { retryAfterMs } from "../shared/retry-after.ts";

export interface Failures {
  /** The server answered with a status that is no success. */
  refused(response: Response, body: string): HoldfastError;
  /** It began to answer and then said that something went wrong. */
  inStream(chunk: Fields): HoldfastError;
  /** It could not be reached, or the connection was lost. */
  network(cause: unknown, when: "before" | "during"): HoldfastError;
  /** A page for people, where an answer should be. */
  notAnApi(): HoldfastError;
  malformed(what: string): HoldfastError;
  /** The stream is at its end, the answer is not. */
  endedEarly(): HoldfastError;
  busy(word: string): HoldfastError;
  brokenOff(word: string): HoldfastError;
}

interface Whom {
  /** provider/model, for people. */
  readonly name: string;
  /** Without its query: a key may be in there. */
  readonly address: string;
  /** Values that are never shown. */
  readonly hidden: readonly string[];
}

export function createFailures({ name, address, hidden }: Whom): Failures {
  function error(code: ErrorCode, what: string, more: { cause?: unknown; details?: object } = {}): HoldfastError {
    return new HoldfastError(code, shortened(createConceal(hidden)(what)), more as object); // X1
  }

  return {
    refused(response, body) {
      const { status, headers } = response;
      const said = errorIn(body);
      const code = codeOf(status, said);
      const after = retryAfterMs(headers, Date.now());
      const where = code === "model-not-found" ? ` at ${address}` : "";
      // The text of a refused key may show the key in some other form.
      const text = code === "model-unauthorized" || said.message === "" ? "" : `: ${said.message}`;
      return error(code, `${name} answered with status ${status}${where}${text}`, {
        details: { status, ...(after === undefined ? {} : { retryAfterMs: after }) },
      });
    },
    inStream(chunk) {
      const said = errorOf(chunk);
      const status = Number(/\b[45]\d\d\b/.exec(said.code)?.[0] ?? 500);
      return error(codeOf(status, said), `${name} broke off its answer: ${said.message || "no reason given"}`);
    },
    network(cause, when) {
      const reason = networkReason(cause);
      const code: ErrorCode = /TIMEOUT/.test(reason) ? "model-timeout" : "model-unreachable";
      const what =
        when === "before"
          ? `${name} could not be reached at ${address}: ${reason}`
          : `The connection to ${name} was lost in the middle of its answer: ${reason}`;
      return error(code, what);
    },
    notAnApi: () => error("model-not-found", `${name} answered with a web page at ${address}: the base URL is wrong`),
    malformed: (what) => error("model-malformed", `${name} broke its protocol: ${what}`),
    endedEarly: () => error("model-interrupted", `${name} ended its stream before its answer was whole`),
    busy: (word) => error("model-overloaded", `${name} stopped by ${word}`),
    brokenOff: (word) => error("model-failed", `${name} broke off its answer by ${word}`),
  };
}

/** What a server said of an error, in any of the shapes that there are. */
interface Said {
  readonly message: string;
  readonly code: string;
  readonly type: string;
}

function errorIn(body: string): Said {
  try {
    return errorOf(JSON.parse(body));
  } catch {
    return { message: body.startsWith("<") ? "" : body.trim(), code: "", type: "" }; // a page is for people
  }
}

function errorOf(body: unknown): Said {
  const outer = recordIn(Array.isArray(body) ? body[0] : body);
  const { error = outer } = outer;
  if (typeof error === "string") return { message: error, code: "", type: "" };
  const { message, detail, code, type, status } = recordIn(error);
  const words = textIn(message) || textIn(detail) || detailsIn(detail);
  const inner = textIn(recordIn(recordIn(error).innererror).code);
  const known = [code, inner, status].filter((each) => typeof each === "string" || typeof each === "number");
  return { message: words, code: known.map(String).join(" "), type: textIn(type) };
}

function detailsIn(detail: unknown): string {
  const lines = listIn(detail).filter(isRecord);
  return lines.map(({ msg, loc }) => `${listIn(loc).join(".")}: ${textIn(msg)}`).join("; ");
}

/** X2. */
function codeOf(status: number, { message, code, type }: Said): ErrorCode {
  return refusalClass({ status, words: `${code} ${type}`, message }) ?? "model-failed";
}

function networkReason(cause: unknown): string {
  const inner = isRecord(cause) || cause instanceof Error ? (cause as { cause?: unknown }).cause : undefined;
  const code = textIn((inner as Fields | undefined)?.code) || textIn((cause as Fields | undefined)?.code);
  return code || messageOf(inner ?? cause);
}
