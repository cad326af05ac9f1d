/**
 * Pool: several models as one. A thread asks its home first; when that has a bad day, the call goes to the next member
 * before anything was streamed.
 *
 * P1 A call is passed on only while nothing of an answer was told. After that it fails, and the engine's retry, which
 *    goes on from there, asks another member first.
 * P2 Whoever may be asked is asked: a call is refused only when no member gives a permit, and the refusal says when one will.
 * P3 A member that works again is used again: its threads ask it first as soon as its rest is over.
 * P4 What is no bad day (a wrong key, a bad request) goes to the caller at once: another member would hide it.
 * P5 Every permit is given back, whatever becomes of the call: answered, failed, aborted, or forgotten by its reader.
 * P6 What the engine makes another attempt for has failed here too: silence until its timeout, a stream that is cut, an
 *    answer with nothing in it. It counts against the member, and the next attempt of that step asks another one first.
 */
import { HoldfastError } from "../../domain/errors.ts";
import type { PricedAnswerer } from "../../domain/model.ts";
import { isBadDay, modelErrorOf, retryAfterOf } from "../../domain/model-error.ts";
import type { Model, ModelPart, ModelRequest } from "../../ports/provider.ts";
import { type Breaker, type BreakerView, createBreaker, type Permit } from "./breaker.ts";
import { describePool } from "./describe.ts";
import { type PoolMember, type PoolOptions, readPool } from "./options.ts";
import { rank } from "./rank.ts";
import { saysNothing } from "./says-nothing.ts";
import { createSteps, type Steps } from "./steps.ts";

export interface MemberHealth extends BreakerView {
  readonly provider: string;
  readonly model: string;
}

export interface Pool extends Model {
  /** How its members are, in the order in which they were given. Looking changes nothing. */
  health(): readonly MemberHealth[];
}

/** A member of a pool that was checked. */
interface Seat {
  readonly key: string;
  readonly weight: number;
  readonly model: Model;
  readonly breaker: Breaker;
}

/** Somebody tries a member right now; that is soon decided. */
const probeWaitMs = 1_000;

export function pool(members: readonly (Model | PoolMember)[], options: PoolOptions = {}): Pool {
  const { places, breaker, clock } = readPool(members, options);
  const now = (): number => clock.monotonic();
  const seats: readonly Seat[] = places.map((place) => ({ ...place, breaker: createBreaker(breaker, now) }));
  const steps = createSteps();
  return {
    description: describePool(seats.map(({ model }) => model.description)),
    health: () => seats.map(({ model, breaker }) => ({ ...namesOf(model), ...breaker.look() })),
    problemsWith: (asked) => [...new Set(seats.flatMap(({ model }) => model.problemsWith?.(asked) ?? []))],
    async *call(request, signal) {
      const failures: Failure[] = [];
      for (const seat of steps.order(rank(seats, request.thread), request)) {
        signal.throwIfAborted();
        const permit = seat.breaker.admit();
        if (!permit) continue;
        const error = yield* ask(seat, permit, { request, signal, steps });
        if (!error) return;
        failures.push({ seat, error });
      }
      throw noAnswer(seats, failures);
    },
  };
}

interface Asked {
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly steps: Steps;
}

interface Failure {
  readonly seat: Seat;
  readonly error: HoldfastError;
}

/** The member's answer as it comes; returns the error with which another member may be asked. */
async function* ask(seat: Seat, permit: Permit, asked: Asked): AsyncGenerator<ModelPart, HoldfastError | undefined> {
  const { request, signal, steps } = asked;
  const failsStep = (): void => steps.failed(request, seat.key);
  // P5: a reader that has gone, or a member that is deaf, would never let this function go on.
  const aborted = (): void => {
    if (!isTimeout(signal)) return permit.dropped();
    permit.failed();
    failsStep();
  };
  signal.addEventListener("abort", aborted, { once: true });
  let isTold = false;
  let isWhole = false;
  let isEmpty = request.continues === undefined; // what goes on may have nothing to add
  try {
    for await (const part of seat.model.call(request, signal)) {
      isTold ||= part?.type !== "ping";
      if (isTold) permit.answers();
      isEmpty &&= saysNothing(part);
      if (part?.type === "finish") {
        isWhole = part.reason !== "error" && !isEmpty;
        if (isWhole) steps.answered(request);
        yield finished(part, seat, isWhole ? permit.done : permit.failed);
      } else yield part;
    }
    permit.failed(); // without a finish; after one nothing is heard any more
    return undefined;
  } catch (cause) {
    const error = modelErrorOf(cause);
    if (signal.aborted || !isBadDay(error)) throw cause;
    permit.failed(retryAfterOf(error));
    if (isTold) throw cause;
    return error;
  } finally {
    permit.dropped();
    if (!isWhole && !signal.aborted) failsStep(); // P6; also when its reader has gone: what it read broke its protocol
    signal.removeEventListener("abort", aborted);
  }
}

type Finish = Extract<ModelPart, { type: "finish" }>;

function finished(part: Finish, { model }: Seat, settle: () => void): Finish {
  settle();
  return { answeredBy: whoIs(model), ...part };
}

/** The engine says so when it gives up; everybody else who aborts has other reasons. */
function isTimeout({ reason }: AbortSignal): boolean {
  return modelErrorOf(reason).code === "model-timeout";
}

function noAnswer(seats: readonly Seat[], failures: readonly Failure[]): HoldfastError {
  const looks = seats.map((seat) => ({ seat, ...seat.breaker.look() }));
  const waits = looks.map(({ state, readyInMs }) => (state === "open" ? readyInMs : Math.min(readyInMs, probeWaitMs)));
  const said = looks.map(({ seat, state, readyInMs }) => {
    const { error } = failures.find((each) => each.seat === seat) ?? {};
    const why = error ? `${error.code}: ${error.message}` : `${state}, asked again in ${Math.ceil(readyInMs)} ms`;
    return `${seat.key} (${why})`;
  });
  const [first] = failures;
  const soonest = Math.ceil(Math.min(...waits));
  return new HoldfastError(
    first?.error.code ?? "model-overloaded",
    `No member of the pool answered: ${said.join("; ")}`,
    {
      ...(first ? { cause: first.error } : {}),
      ...(soonest > 0 ? { details: { retryAfterMs: soonest } } : {}),
    },
  );
}

function namesOf({ description: { provider, model } }: Model): { readonly provider: string; readonly model: string } {
  return { provider, model };
}

function whoIs(model: Model): PricedAnswerer {
  const { prices } = model.description;
  return { ...namesOf(model), ...(prices ? { prices } : {}) };
}
