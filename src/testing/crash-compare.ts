/** Compares a cut play with what it must come to. */
import type { CallResult } from "../domain/message.ts";
import { unknownEffects } from "./crash-checks.ts";
import type { Played } from "./crash-play.ts";
import type { Expected } from "./crash-scenario.ts";
import { effectLines } from "./crash-story.ts";

export function comesTo(played: Played): Expected {
  const { stories, effects } = played;
  const unknown = stories.flatMap(({ entries, row }) =>
    unknownEffects(entries).map(({ effect }) => effect.slice(row.run.length + 1)),
  );
  return {
    runs: stories.map(({ outcome, transcript }) => ({ outcome, transcript })),
    effects: effectLines(effects, stories),
    unknown: [...new Set(unknown)].sort(),
  };
}

export function differences(played: Played, expected: Expected): readonly string[] {
  const actual = comesTo(played);
  const problems: string[] = [];
  if (actual.runs.length !== expected.runs.length) {
    problems.push(`there are ${actual.runs.length} runs instead of ${expected.runs.length}`);
  }
  for (const [index, run] of expected.runs.entries()) {
    const found = actual.runs[index];
    if (!found) continue;
    if (found.outcome !== run.outcome) problems.push(`outcome: ${found.outcome} instead of ${run.outcome}`);
    const [is, was] = [found.transcript.join("\n"), run.transcript.join("\n")];
    if (is !== was) problems.push(`transcript:\n${is}\ninstead of\n${was}`);
  }
  problems.push(...effectDifferences(actual.effects, expected.effects, played.lost));
  return [...problems, ...unknownDifferences(actual.unknown, [...expected.unknown, ...played.lost])];
}

const asked = ["cancel-requested", "pause-requested", "input-received"];

/** What was asked from outside stands as often in the journals as uncut: a repeat with the same key is no new request. */
export function askedTwice(played: Played, uncut: Played): readonly string[] {
  const count = ({ stories }: Played, type: string): number =>
    stories.flatMap(({ entries }) => entries).filter((entry) => entry.type === type).length;
  return asked
    .filter((type) => count(played, type) !== count(uncut, type))
    .map((type) => `${type} stands ${count(played, type)} times instead of ${count(uncut, type)}`);
}

/** Nothing more than expected; less only where a `once` effect was lost before it happened. */
function effectDifferences(
  actual: readonly string[],
  expected: readonly string[],
  lost: ReadonlySet<string>,
): string[] {
  const missing = [...expected];
  const extra = actual.filter((line) => {
    const at = missing.indexOf(line);
    if (at >= 0) missing.splice(at, 1);
    return at < 0;
  });
  const lostCalls = new Set([...lost].map((effect) => effect.split("~")[0]));
  const unexplained = missing.filter((line) => !lostCalls.has(line.split(" ")[0]));
  return [
    ...extra.map((line) => `effect that should not be: ${line}`),
    ...unexplained.map((line) => `effect that is missing: ${line}`),
  ];
}

/** A `once` effect happens at most once per key, whatever the receiver knows of keys. */
export function doubleEffects({ effects }: Played): readonly string[] {
  const keys = effects.map((effect) => effect.key);
  return effects
    .filter(({ key }, index) => keys.indexOf(key) !== index)
    .map(({ tool, key }) => `${tool} twice by ${key}`);
}

/** What the transcript says was not run has not happened. */
export function untrueResults({ stories, effects }: Played): readonly string[] {
  const parts = stories.flatMap(({ messages }) => messages.flatMap((message) => message.parts));
  const notRun = parts.filter((part) => part.type === "tool-result" && isNotRun(part.result));
  return notRun.flatMap((part) => {
    const done = part.type === "tool-result" && effects.some((effect) => effect.call === part.call);
    return done ? [`call ${part.call} is said not to have run, and has`] : [];
  });
}

function isNotRun(result: CallResult): boolean {
  return result.kind === "error" && result.code === "not-run";
}

/** Exactly the effects that are expected to, and those that a death left open, have an unknown outcome. */
function unknownDifferences(actual: readonly string[], expected: readonly string[]): readonly string[] {
  return [
    ...actual.filter((each) => !expected.includes(each)).map((effect) => `effect ${effect} is unknown for no reason`),
    ...expected.filter((each) => !actual.includes(each)).map((effect) => `effect ${effect} should be unknown`),
  ];
}
