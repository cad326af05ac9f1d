/**
 * Answers that people wanted to be remembered: which question was answered, and until when that counts. No rule of the
 * config is ever stored; an answer is about one question of one rule and means nothing without it.
 *
 * R1 An answer counts only for the question it was given to: the same agent, tool and asking rule, and the same input where
 *    it is about one. So it beats no deny, no other rule, and no default that is not to ask.
 * R2 It counts before its time is over, and not longer than the config allows by now.
 * R3 At most `mostRemembered` are kept per scope: those that are over go first, then those that end first.
 */
import type { JsonValue } from "../../domain/json.ts";
import type { PluginRun, StateView } from "../../domain/plugin.ts";
import type { StandardSchema } from "../../domain/standard-schema.ts";
import { type StateKey, stateKey } from "../../domain/state-key.ts";
import { type Remember, type RememberedThing, type RememberScope, rememberedThings } from "./config.ts";
import type { Judged, JudgedCall } from "./judge.ts";

export interface Answer {
  readonly tool: string;
  readonly what: RememberedThing;
  /** Names the question (R1). */
  readonly question: string;
  readonly since: number;
  /** The first millisecond at which it no longer counts. */
  readonly until: number;
  /** Whose decision it was is written there. */
  readonly ticket: string;
}

export const mostRemembered = 64;

const answerList: StandardSchema<readonly Answer[]> = {
  "~standard": {
    version: 1,
    vendor: "holdfast",
    validate: (value) =>
      Array.isArray(value) && value.every(isAnswer)
        ? { value }
        : { issues: [{ message: "must be a list of remembered answers" }] },
  },
};

function isAnswer(value: unknown): value is Answer {
  const { tool, what, question, since, until, ticket } = (value ?? {}) as Partial<Answer>;
  const texts = [tool, question, ticket].every((each) => typeof each === "string");
  return texts && [since, until].every(Number.isFinite) && rememberedThings.includes(what as RememberedThing);
}

export const answerKeys: Readonly<Record<RememberScope, StateKey<readonly Answer[]>>> = {
  run: answersOf("run"),
  thread: answersOf("thread"),
};

function answersOf(scope: RememberScope): StateKey<readonly Answer[]> {
  return stateKey({ name: `permissions.${scope}`, scope, schema: answerList, initial: [] });
}

/** Answers that people gave to this very question. */
export interface Asked extends JudgedCall {
  readonly judged: Judged;
  readonly run: PluginRun;
}

export function isRemembered(asked: Asked, remember: Remember, at: { now: number; state: StateView }): boolean {
  const questions = new Set(remember.what.map((what) => questionOf(asked, what)));
  return remember.scopes.some((scope) =>
    at.state
      .get(answerKeys[scope])
      .some((answer) => questions.has(answer.question) && isCounting(answer, remember, at.now)),
  );
}

/** R2. */
function isCounting({ since, until }: Answer, { maxMs }: Remember, now: number): boolean {
  return now < Math.min(until, since + maxMs);
}

/** R3. */
export function withAnswer(answers: readonly Answer[], answer: Answer, now: number): readonly Answer[] {
  const others = answers.filter(({ question, until }) => question !== answer.question && now < until);
  const longest = others.toSorted((a, b) => b.until - a.until).slice(0, mostRemembered - 1);
  return [...longest.reverse(), answer];
}

/** R1. Several short names in a row: one of them could be forged by a model that finds two inputs with the same name. */
export function questionOf({ run, tool, input, judged }: Asked, what: RememberedThing): string {
  const about: JsonValue = [what, run.agent, tool, judged.rule?.pattern.text ?? null, what === "input" ? input : null];
  return [1, 2, 3, 4].map((part) => run.hash([part, about])).join("");
}
