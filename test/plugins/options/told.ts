/** One scenario of an option, and everything that it leaves behind: the journal, what models were asked, what code noted. */
import { isHoldfastError, type Run, type StartOptions } from "../../../src/index.ts";
import type { ScriptedAnswer } from "../../../src/providers/scripted.ts";
import {
  aModelThat,
  anAgentWith,
  given,
  type Story,
  type StoryAgent,
  type StoryModel,
  type StoryOptions,
  says,
} from "../../../src/testing/story.ts";

export interface Play {
  readonly agent?: Partial<StoryAgent>;
  readonly answers?: readonly ScriptedAnswer[];
  readonly model?: StoryModel;
  readonly start?: StartOptions;
  readonly options?: StoryOptions;
  /** Happens first, on the same store. */
  readonly before?: () => Promise<void>;
  /** What happens from outside. Unless said, whatever is asked is approved or answered. */
  readonly during?: (story: Story, run: Run) => Promise<void>;
  /** Only what models were asked counts: the journal has the words of a command, whatever is made of them. */
  readonly isOnlyAsked?: boolean;
  /** What the code of the scenario has seen that is in no journal. */
  readonly notes?: readonly string[];
}

export type Row =
  | {
      /** The option left out, or as it must be. Fresh each time. */
      readonly base: () => Play;
      readonly changed: () => Play;
      /** It tells one declaration from another, and nothing else. */
      readonly isDeclaredOnly?: boolean;
    }
  /** This file has it in a list of its own. */
  | { readonly elsewhere: string };

export type Rows = Readonly<Record<string, Row>>;

/** When, by which process, and what was declared: all that differs without any effect. */
const without = [
  ...["at", "epoch", "startBy", "openedAt", "timeoutMs", "budget", "deadlineAt", "fingerprint"],
  ...["terms", "audience", "answerBy", "onExpiry", "escalation", "hash"],
];

/** Ids of traces are drawn, and others each time. */
const drawn = /00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]/g;

export async function tell(play: Play, left: readonly string[] = without): Promise<readonly string[]> {
  const { agent = {}, answers = [says("Done.")], start, options, during = answerAll } = play;
  try {
    await play.before?.();
    const model = play.model ?? aModelThat(...answers);
    await using story = await given({ ...anAgentWith(), ...agent }, model, options);
    const run = await story.userSays("Go.", start);
    await during(story, run);
    const kept = (value: object): string =>
      JSON.stringify(value, (key, each) => (left.includes(key) ? undefined : each)).replaceAll(drawn, "drawn");
    const journal = play.isOnlyAsked ? [] : await story.journal(run);
    return [...journal.map(kept), ...story.modelSaw.map(kept), ...(play.notes ?? [])];
  } catch (cause) {
    if (!isHoldfastError(cause)) throw cause;
    return [`refused: ${cause.code}: ${cause.problems.join("; ")}`];
  }
}

export function tellDeclared(play: Play): Promise<readonly string[]> {
  return tell(
    play,
    without.filter((name) => name !== "fingerprint"),
  );
}

/** Until the run is done, or waits for something that nobody can answer. */
export async function answerAll(_story: Story, run: Run): Promise<void> {
  for (;;) {
    const idle = await run.idle();
    if (idle.status === "done") return;
    const [ticket] = idle.tickets;
    if (ticket?.kind === "approval") await ticket.approve({ by: "ana", value: "yes" });
    else if (ticket?.kind === "input") await ticket.answer("yes");
    else return;
  }
}

/** Lets time pass, then answers. */
export function after(...durations: readonly number[]): NonNullable<Play["during"]> {
  return async (story, run) => {
    for (const ms of durations) await story.pass(ms);
    await answerAll(story, run);
  };
}

type Scenario<Options> = (options: Options) => Play;

/** The same scenario with and without. */
export function row<Options>(scenario: Scenario<Options>, base: NoInfer<Options>, changed: NoInfer<Options>): Row {
  return { base: () => scenario(base), changed: () => scenario(changed) };
}

export function declaredRow<Options>(
  scenario: Scenario<Options>,
  base: NoInfer<Options>,
  changed: NoInfer<Options>,
): Row {
  return { ...row(scenario, base, changed), isDeclaredOnly: true };
}
