/** Compares a cut play with what it must come to. */
import { markKey } from "../domain/history.ts";
import type { CallResult } from "../domain/message.ts";
import { unknownEffects } from "./crash-checks.ts";
import type { Played } from "./crash-play.ts";
import type { Expected } from "./crash-scenario.ts";
import { saidLines, slotLines } from "./crash-state.ts";
import { effectLines } from "./crash-story.ts";

export function comesTo(played: Played): Expected {
  const { stories, effects } = played;
  const unknown = stories.flatMap(({ entries, row }) =>
    unknownEffects(entries).map(({ effect }) => effect.slice(row.run.length + 1)),
  );
  const threads = new Map(stories.map(({ row, threadState }) => [row.thread as string, threadState.filter(isPlain)]));
  const inThreads = [...threads].flatMap(([thread, lines]) => lines.map((line) => `${thread}: ${line}`)).sort();
  return {
    runs: stories.map(({ outcome, transcript, state }) => {
      const lines = slotLines(Object.entries(state?.slots ?? {}).map(([key, { value }]) => ({ key, value })));
      return { outcome, transcript, ...(lines.length > 0 ? { state: lines } : {}) };
    }),
    ...(inThreads.length > 0 ? { threads: inThreads } : {}),
    effects: effectLines(effects, stories),
    unknown: [...new Set(unknown)].sort(),
  };
}

/** Where a thread's calls begin depends on what was cut: that it is what the journal says is checked, not what it is. */
function isPlain(line: string): boolean {
  return !line.startsWith(`${markKey} = `);
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
    problems.push(...other("transcript", found.transcript, run.transcript), ...other("state", found.state, run.state));
  }
  problems.push(...other("threads", actual.threads, expected.threads));
  problems.push(...effectDifferences(actual.effects, expected.effects, played.lost));
  return [...problems, ...unknownDifferences(actual.unknown, [...expected.unknown, ...played.lost])];
}

function other(what: string, found: readonly string[] = [], wanted: readonly string[] = []): readonly string[] {
  const [is, was] = [found.join("\n"), wanted.join("\n")];
  return is === was ? [] : [`${what}:\n${is}\ninstead of\n${was}`];
}

/** Every moment is written as uncut, with every write of state: nothing is said twice, and nothing is left out. */
export function saidOtherwise(played: Played, uncut: Played): readonly string[] {
  return uncut.stories.flatMap(({ key, entries }) => {
    const found = played.stories.find((story) => story.key === key)?.entries ?? [];
    return other(`what is said in run ${key}`, saidLines(found), saidLines(entries));
  });
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
