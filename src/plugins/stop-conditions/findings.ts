/** Findings: what an ended step has brought. Its calls are over by then; none is dropped because of them. */
import type { Command, Stop } from "../../domain/command.ts";
import { callsOf, type Message, textOf } from "../../domain/message.ts";
import type { CallView, PhaseView } from "../../domain/plugin.ts";
import { type Conditions, shortened } from "./config.ts";
import { errorsInARow, recentCalls, remember, streakAfter, wasDropped } from "./counters.ts";

/** Counters that moved, and the first finding that ends the run. */
export interface Findings {
  readonly writes: readonly Command[];
  readonly stop?: Stop;
}

/** An ended step, read once for all conditions. */
interface Ended {
  readonly view: PhaseView;
  readonly calls: readonly CallView[];
  readonly reply: Message | undefined;
}

type Finding = (ended: Ended, conditions: Conditions) => Findings | undefined;

export function findIn(view: PhaseView, conditions: Conditions): Findings {
  const calls = view.calls.filter(({ result }) => !wasDropped(result));
  const ended: Ended = { view, calls, reply: replyOf(view) };
  const found = findings.map((find) => find(ended, conditions));
  const stop = found.find((each) => each?.stop)?.stop;
  return { writes: found.flatMap((each) => each?.writes ?? []), ...(stop ? { stop } : {}) };
}

/** This step's own: the newest one of the thread may be another run's. */
function replyOf({ messages, run, step }: PhaseView): Message | undefined {
  return messages.findLast(
    ({ role, producer }) => role === "assistant" && producer?.run === run.id && producer.step === step,
  );
}

function errors({ view, calls }: Ended, { consecutiveErrors: limit }: Conditions): Findings | undefined {
  if (limit === undefined) return undefined;
  const before = view.state.get(errorsInARow);
  const results = calls.flatMap(({ result }) => result ?? []);
  const { last, longest } = streakAfter(before, results);
  const writes = last === before ? [] : [errorsInARow.set(last)];
  if (longest < limit) return { writes };
  return { writes, ...stop("errors", `${longest} tool calls in a row ended in an error, the limit is ${limit}`) };
}

function tool({ view, calls }: Ended, { onTool = [] }: Conditions): Findings | undefined {
  const found = calls.find((call) => call.result?.kind === "value" && onTool.includes(call.tool));
  return found && { writes: [], ...stop("tool", `${found.tool} gave a value in step ${view.step}`) };
}

function text({ view, reply }: Ended, { onText }: Conditions): Findings | undefined {
  if (!onText || !reply || !onText.test(textOf(reply))) return undefined;
  return { writes: [], ...stop("text", `The text of step ${view.step} ${onText.words}`) };
}

function loop({ view, calls, reply }: Ended, { loop: limit }: Conditions): Findings | undefined {
  if (!limit || calls.length === 0) return undefined;
  const asked = new Map(reply && callsOf(reply).map((part) => [part.call, part.input]));
  const hashes = calls.map((call) => {
    const input = asked.get(call.id); // as the model asked: what people and plugins made of it is not the model's doing
    const words = input?.kind === "text" ? { text: input.text.toWellFormed() } : { json: input?.value ?? call.input };
    return view.run.hash([call.tool.toWellFormed(), words]);
  });
  const { hashes: remembered, repeated } = remember(view.state.get(recentCalls), hashes, limit);
  const writes = [recentCalls.set(remembered)];
  if (!repeated) return { writes };
  const name = shortened(calls[repeated.index]?.tool ?? "");
  const seen = `${name} was asked for ${repeated.times} times with the same input among the last ${limit.window} calls`;
  return { writes, ...stop("loop", `${seen}, the limit is ${limit.calls}`) };
}

const findings: readonly Finding[] = [errors, tool, text, loop];

function stop(code: string, detail: string): { readonly stop: Stop } {
  return { stop: { type: "stop", code, detail } };
}
