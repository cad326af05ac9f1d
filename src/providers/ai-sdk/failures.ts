/**
 * What goes wrong with a model of the AI SDK, named once. Errors are told by their shape: several copies of a package may
 * be installed, and each has its own classes.
 *
 * X1 No header's value and nothing that looks like a key is in any message, whatever the provider says. The error itself
 *    is not kept as the cause: it holds the whole request.
 * X2 Every error has exactly one class.
 */
import { type ErrorCode, HoldfastError, isHoldfastError } from "../../domain/errors.ts";
import { shortened } from "../../domain/json.ts";
import { Problems } from "../../domain/problems.ts";
import { readRedaction } from "../../domain/redaction.ts";
import { createConceal } from "../shared/conceal.ts";
import { retryAfterMs } from "../shared/retry-after.ts";
import { classOf, networkReason } from "./classify.ts";
import { readSaid } from "./said.ts";

export interface Failures {
  /** Whatever was thrown, or came as an error in the stream. */
  of(cause: unknown, when: "before" | "during"): HoldfastError;
  malformed(what: string): HoldfastError;
  brokenOff(how: string): HoldfastError;
  /** The stream is at its end, the answer is not. */
  endedEarly(): HoldfastError;
  refused(what: string): HoldfastError;
  /** A tool that the provider ran, or wants to run, itself. */
  ranItself(tool: string): HoldfastError;
}

interface Whom {
  /** provider/model, for people. */
  readonly name: string;
  /** Values that are never shown. */
  readonly hidden: readonly string[];
}

const redactor = readRedaction({ detectors: ["api-key", "bearer-token", "private-key"] }, new Problems({}, []));

export function createFailures({ name, hidden }: Whom): Failures {
  const conceal = createConceal(hidden);
  function error(code: ErrorCode, what: string, details: Readonly<Record<string, unknown>> = {}): HoldfastError {
    return new HoldfastError(code, redactor.text(shortened(conceal(what))), { details }); // X1
  }

  return {
    of(cause, when) {
      if (isHoldfastError(cause)) return cause;
      const said = readSaid(cause);
      const code = classOf(said);
      const after = retryAfterMs(said.headers, Date.now());
      const details = {
        ...(said.status === undefined ? {} : { status: said.status }),
        ...(after === undefined ? {} : { retryAfterMs: after }),
      };
      return error(code, `${name} ${wordsFor(code, said, when)}`, details);
    },
    malformed: (what) => error("model-malformed", `${name} broke its protocol: ${what}`),
    brokenOff: (how) => error("model-unreachable", `${name} broke off its answer ${how}`),
    endedEarly: () => error("model-interrupted", `${name} ended its stream before its answer was whole`),
    refused: (what) => error("model-refused", `${name} ${what}`),
    ranItself: (tool) =>
      error(
        "model-refused",
        `${name} runs ${tool === "" ? "a tool" : `the tool ${tool}`} itself; take it out of its provider options, and give the agent a tool that is run here`,
      ),
  };
}

function wordsFor(code: ErrorCode, said: ReturnType<typeof readSaid>, when: "before" | "during"): string {
  const where = code === "model-not-found" && said.address ? ` at ${said.address}` : "";
  const status = said.status === undefined ? "" : ` with status ${said.status}`;
  if (code === "model-unreachable") {
    const reason = networkReason(said) ?? said.message;
    return when === "before" ? `could not be reached: ${reason}` : `was lost in the middle of its answer: ${reason}`;
  }
  // The text of a refused key may show the key in some other form; that none was given may be said.
  const isKept = code !== "model-unauthorized" || said.status === undefined;
  const words = isKept && said.message !== "" ? `: ${said.message}` : "";
  return `${when === "before" ? "failed" : "broke off its answer"}${status}${where}${words}`;
}
