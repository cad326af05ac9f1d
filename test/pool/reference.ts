/**
 * What a pool of models with circuit breakers is meant to do, said once more and in another way: a state per member, a
 * place per call, no promises. Compared with the real one after every step of random sequences.
 */

export interface Settings {
  readonly failures: number;
  readonly restMs: number;
  readonly probeMs: number;
}

type MemberState =
  | { is: "closed"; bad: number }
  | { is: "resting"; until: number }
  | { is: "trial"; probe: { token: Token; silentBy: number } | undefined };

interface Token {
  ended: boolean;
  readonly state: MemberState["is"];
}

export interface RefMember {
  readonly key: string;
  state: MemberState;
  /** Tokens that still count. */
  readonly counting: Set<Token>;
}

export type CallEvent =
  /** "answer" is a part and the finish after it; a finish with nothing before it, or only blanks or thoughts, is empty. */
  | { readonly kind: "ping" | "part" | "blank" | "thought" | "answer" | "finish" | "finish-error" | "end" }
  | { readonly kind: "fail"; readonly code: string; readonly isBadDay: boolean; readonly afterMs?: number };

/** Which step of whose conversation, and the how manieth attempt at it. */
export interface Try {
  readonly thread: string;
  readonly step: number;
  readonly attempt: number;
  readonly goesOn: boolean;
}

export interface RefCall {
  readonly at: Try;
  readonly order: readonly RefMember[];
  place: number;
  token: Token | undefined;
  told: number;
  said: boolean;
  firstFailure: string | undefined;
  /** The code, or done, cut, left, aborted. */
  outcome: string | undefined;
  retryAfterMs: number | undefined;
  leaves: boolean;
}

export class ReferencePool {
  now = 0;
  readonly members: readonly RefMember[];
  /** By thread and step: when each member failed it last, as a count of failures. */
  readonly #failedAt = new Map<string, Map<string, number>>();
  #failures = 0;
  readonly #settings: Settings;

  constructor(keys: readonly string[], settings: Settings) {
    this.#settings = settings;
    this.members = keys.map((key) => ({ key, state: { is: "closed", bad: 0 }, counting: new Set() }));
  }

  start(order: readonly string[], at: Try): RefCall {
    if (at.attempt === 1) this.#failedAt.delete(stepOf(at));
    const failed = this.#failedAt.get(stepOf(at)) ?? new Map<string, number>();
    const again = order.filter((key) => failed.has(key));
    again.sort((a, b) => Number(failed.get(a)) - Number(failed.get(b)));
    const call: RefCall = {
      at,
      order: [...order.filter((key) => !failed.has(key)), ...again].map(
        (key) => this.members.find((each) => each.key === key) as RefMember,
      ),
      place: -1,
      token: undefined,
      told: 0,
      said: false,
      firstFailure: undefined,
      outcome: undefined,
      retryAfterMs: undefined,
      leaves: false,
    };
    this.#askNext(call);
    return call;
  }

  asked(call: RefCall): string | undefined {
    return call.outcome === undefined ? call.order[call.place]?.key : undefined;
  }

  happens(call: RefCall, event: CallEvent): void {
    const member = call.order[call.place] as RefMember;
    switch (event.kind) {
      case "ping":
        if (call.leaves) this.#leave(call, member);
        return;
      case "part":
      case "blank":
      case "thought":
        call.told += 1;
        call.said ||= event.kind === "part";
        this.#answers(member, call.token);
        if (call.leaves) this.#leave(call, member);
        return;
      case "answer":
        this.happens(call, { kind: "part" });
        if (call.outcome === undefined) this.happens(call, { kind: "finish" });
        return;
      case "finish":
        if (!call.said && !call.at.goesOn) return this.happens(call, { kind: "finish-error" });
        call.told += 1;
        if (this.#ends(member, call.token)) this.#close(member, 0);
        this.#failedAt.delete(stepOf(call.at));
        call.outcome = call.leaves ? "left" : "done";
        return;
      case "finish-error":
        call.told += 1;
        this.#answers(member, call.token);
        this.#fails(member, call.token, 0);
        this.#failsStep(call, member);
        call.outcome = call.leaves ? "left" : "done";
        return;
      case "end":
        this.#fails(member, call.token, 0);
        this.#failsStep(call, member);
        call.outcome = "cut";
        return;
      default:
        this.#failed(call, member, event);
    }
  }

  abort(call: RefCall, isTimeout: boolean): void {
    const member = call.order[call.place] as RefMember;
    if (isTimeout) {
      this.#fails(member, call.token, 0);
      this.#failsStep(call, member);
    } else this.#givesUp(call, member);
    call.outcome = "aborted";
  }

  health(): readonly { readonly state: string; readonly readyInMs: number }[] {
    return this.members.map(({ state }) => {
      if (state.is === "closed") return { state: "closed", readyInMs: 0 };
      if (state.is === "resting" && state.until > this.now) return { state: "open", readyInMs: state.until - this.now };
      const busyFor = state.is === "trial" && state.probe ? Math.max(0, state.probe.silentBy - this.now) : 0;
      return { state: "half-open", readyInMs: busyFor };
    });
  }

  #failed(call: RefCall, member: RefMember, event: Extract<CallEvent, { kind: "fail" }>): void {
    if (!event.isBadDay) {
      this.#leave(call, member);
      call.outcome = event.code;
      return;
    }
    this.#fails(member, call.token, event.afterMs ?? 0);
    this.#failsStep(call, member);
    call.firstFailure ??= event.code;
    if (call.told > 0) call.outcome = event.code;
    else this.#askNext(call);
  }

  #askNext(call: RefCall): void {
    for (call.place += 1; call.place < call.order.length; call.place += 1) {
      call.token = this.#take(call.order[call.place] as RefMember);
      if (call.token) return;
    }
    call.outcome = call.firstFailure ?? "model-overloaded";
    const waits = this.health().map(({ state, readyInMs }) =>
      state === "open" ? readyInMs : Math.min(1_000, readyInMs),
    );
    const soonest = Math.min(...waits);
    call.retryAfterMs = soonest > 0 ? soonest : undefined;
  }

  #take(member: RefMember): Token | undefined {
    const { state } = member;
    if (state.is === "resting" && state.until > this.now) return undefined;
    if (state.is === "trial" && state.probe && state.probe.silentBy > this.now) return undefined;
    const token: Token = { ended: false, state: state.is === "closed" ? "closed" : "trial" };
    if (token.state === "trial") {
      member.counting.clear();
      member.state = { is: "trial", probe: { token, silentBy: this.now + this.#settings.probeMs } };
    }
    member.counting.add(token);
    return token;
  }

  #counts(member: RefMember, token: Token | undefined): token is Token {
    return token !== undefined && !token.ended && member.counting.has(token);
  }

  #ends(member: RefMember, token: Token | undefined): boolean {
    const counts = this.#counts(member, token);
    if (token) token.ended = true;
    return counts;
  }

  #answers(member: RefMember, token: Token | undefined): void {
    if (this.#counts(member, token) && member.state.is === "trial") this.#close(member, this.#settings.failures - 1);
  }

  #close(member: RefMember, bad: number): void {
    member.state = { is: "closed", bad };
  }

  #fails(member: RefMember, token: Token | undefined, afterMs: number): void {
    if (!this.#ends(member, token)) return;
    const bad = member.state.is === "closed" ? member.state.bad + 1 : this.#settings.failures;
    if (afterMs === 0 && bad < this.#settings.failures) {
      member.state = { is: "closed", bad };
      return;
    }
    member.counting.clear();
    const restMs = afterMs > 0 ? Math.min(600_000, afterMs) : this.#settings.restMs;
    member.state = { is: "resting", until: this.now + restMs };
  }

  /** Whatever it was for, the step has no answer from this member. */
  #leave(call: RefCall, member: RefMember): void {
    this.#givesUp(call, member);
    this.#failsStep(call, member);
    call.outcome = "left";
  }

  #givesUp(call: RefCall, member: RefMember): void {
    if (this.#ends(member, call.token) && member.state.is === "trial") member.state = { is: "trial", probe: undefined };
  }

  #failsStep({ at }: RefCall, { key }: RefMember): void {
    const step = this.#failedAt.get(stepOf(at)) ?? new Map<string, number>();
    this.#failures += 1;
    this.#failedAt.set(stepOf(at), step.set(key, this.#failures));
  }
}

function stepOf({ thread, step }: Try): string {
  return `${thread}/${step}`;
}
