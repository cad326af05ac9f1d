/** One question to a resolver, behind its deadline. */
import { HoldfastError } from "../domain/errors.ts";
import { messageOf, shortened } from "../domain/json.ts";
import type { Redactor } from "../domain/redaction.ts";
import { breathe } from "../engine/retry.ts";
import { settleWithin } from "../engine/settle-within.ts";
import type { AgentResolver, WantedAgent } from "../ports/agent-resolver.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";

export interface Asking {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** A resolver that has not answered by then has failed. */
  readonly timeoutMs: number;
}

type Waiting = Asking & { readonly signal: AbortSignal | undefined };

/** Its words may end in a journal: what is to be hidden is taken out of them. */
export async function askResolver(resolver: AgentResolver, wanted: WantedAgent, by: Waiting): Promise<unknown> {
  const { agent, run } = wanted;
  const answer = await answerOf(resolver, wanted, by);
  if (answer.kind === "value") return answer.value;
  const isLate = answer.kind === "timeout";
  const why = isLate ? `did not answer within ${by.timeoutMs} ms` : `failed: ${shortened(messageOf(answer.cause))}`;
  throw new HoldfastError(
    "resolver-failed",
    `Run ${run}: the resolver ${by.redactor.text(why)} when asked for agent ${agent}`,
    { details: { run, agent, isLate }, ...(isLate ? {} : { cause: answer.cause }) },
  );
}

async function answerOf(
  resolver: AgentResolver,
  wanted: WantedAgent,
  { clock, timeoutMs, signal }: Waiting,
): ReturnType<typeof settleWithin<unknown>> {
  const stop = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const leave = (): void => reject(new Error("nobody waits for it any more"));
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted) leave(); // between two questions
  new Promise((begin) => begin(resolver.resolve(wanted, { signal: stop.signal }))).then(resolve, reject);
  try {
    return await settleWithin(promise, timeoutMs, { clock });
  } finally {
    signal?.removeEventListener("abort", leave);
    stop.abort("over");
  }
}

const mostTries = 3;

interface Patience {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A registry that has hiccups is asked again at once; one that hangs, or answers nonsense, is not. */
export async function patiently<T>(call: () => Promise<T>, { clock, signal }: Patience): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (cause) {
      const { code, details } = cause as HoldfastError;
      if (attempt === mostTries || code !== "resolver-failed" || details.isLate === true || signal.aborted) throw cause;
      await breathe(attempt, { clock, signal });
    }
  }
}

/** Names that cannot be read leave those that were read last. */
export function createNames(resolver: AgentResolver, logger: Logger): () => readonly string[] {
  let last: readonly string[] = [];
  let isBroken = false;
  return () => {
    if (!resolver.names) return last;
    try {
      const names: unknown = resolver.names();
      if (!Array.isArray(names) || names.some((name) => typeof name !== "string")) {
        throw new TypeError("names() must answer a list of strings, at once");
      }
      last = [...new Set(names as string[])];
      isBroken = false;
    } catch (cause) {
      if (!isBroken)
        logger.warn("The resolver could not say which agents it has; the last list counts", {
          cause: messageOf(cause),
        });
      isBroken = true;
    }
    return last;
  };
}
