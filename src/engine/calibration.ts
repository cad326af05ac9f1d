/** What a call sends beside the conversation, and how far estimates are off by what providers have counted. */
import type { EffectIntended, Entry } from "../domain/entry.ts";
import type { Room } from "../domain/fit-context.ts";
import type { EffectId } from "../domain/ids.ts";
import { tokensIn, tokensOfJson } from "../domain/measure.ts";
import type { ModelDescription } from "../domain/model.ts";
import type { RunState } from "../domain/run-state.ts";
import type { FindOther, Model } from "../ports/provider.ts";
import type { BoundAgent } from "./deps.ts";
import type { Transcript } from "./transcript.ts";

/** Of a model that does not say how much fits. */
const unknownWindow = 128_000;
/** Kept free for an answer that is not bounded by the model, and never more than this share of the window. */
const longestAnswer = 8_192;
const answerShare = 0.25;

/** The most tokens that a call may send. */
export function roomFor({ contextWindow = unknownWindow, maxOutputTokens = longestAnswer }: ModelDescription): number {
  return contextWindow - Math.min(maxOutputTokens, Math.floor(contextWindow * answerShare));
}

export interface Calibration {
  room(state: RunState, model: ModelDescription): Room;
  /** A call is about to be made with these instructions, all that plugins say in them included. */
  saw(instructions: string): void;
  /** Learns from what was committed: what was sent, and how it was counted. Before the transcript takes it. */
  take(entry: Entry, state: RunState): void;
}

interface Seed {
  readonly agent: BoundAgent;
  readonly transcript: Transcript;
  readonly window: number;
  readonly otherModel: FindOther;
}

/** The newest call. */
interface Sent {
  readonly effect: EffectId;
  readonly tokens: number;
  readonly to: Model;
}

const tooLong = "model-context-overflow";

/** Of a function of the user's that was not asked yet: a guess. */
const unseenInstructions = 500;

/** Counts of small calls say little, and those of a stranger may say anything. */
const leastCounted = 200;
const [leastRatio, mostRatio] = [0.5, 4];

/** What was learned of a model, by the runs of this process: one that makes a single call would else never profit. */
const learned = new WeakMap<object, number>();

export function openCalibration({ agent, transcript, window, otherModel }: Seed): Calibration {
  let ratio = learned.get(agent.model) ?? bounded(transcript.candidates([]).mark?.ratio ?? 1); // another agent may have made it
  let sent: Sent | undefined;
  let seen = agent.written === undefined ? unseenInstructions : 0;
  const { history, written = "" } = agent;
  const fixedOf = (state: RunState): number =>
    Math.max(seen, tokensIn(written.length) + pluginTokens(state)) + toolTokens(agent);
  return {
    room: (state, model) => ({
      tokens: Math.min(history.tokens ?? Number.POSITIVE_INFINITY, roomFor(model)),
      messages: window,
      fixed: fixedOf(state),
      ratio: isTooLong(state, sent) ? seenRatio(ratio, sent) : ratio, // also before that is committed and learned
      history,
    }),
    saw(instructions) {
      seen = tokensIn(instructions.length);
    },
    take(entry, state) {
      if (entry.type === "effect-intended" && entry.kind === "model") {
        const to = calledBy(entry, { own: agent.model, otherModel });
        sent = { effect: entry.effect, tokens: fixedOf(state) + transcript.candidates([]).tokens, to };
      }
      if (entry.type !== "effect-settled" || entry.effect !== sent?.effect) return;
      const { result } = entry;
      const isOwn = sent.to === agent.model; // what another one counts says nothing of this one
      if (isOwn && result.kind === "done" && result.usage && sent.tokens >= leastCounted) {
        ratio = (ratio + bounded(result.usage.inputTokens / sent.tokens)) / 2;
        learned.set(agent.model, ratio);
      }
      if (result.kind === "failed" && result.error.code === tooLong) {
        ratio = seenRatio(ratio, sent);
      }
    },
  };
}

interface Models {
  readonly own: Model;
  readonly otherModel: FindOther;
}

function calledBy({ overrides }: EffectIntended, { own, otherModel }: Models): Model {
  const other = overrides?.model === undefined ? undefined : otherModel(overrides.model);
  return other && "model" in other ? other.model : own;
}

/** The provider found the step's newest call too long. */
function isTooLong({ step }: RunState, sent: Sent | undefined): sent is Sent {
  const { id, last } = step?.model ?? {};
  return sent !== undefined && id === sent.effect && last?.kind === "failed" && last.error.code === tooLong;
}

/** It was more than fits, whatever we thought: by this ratio it is seen to be, and half of it is cut. */
function seenRatio(ratio: number, { to, tokens }: Sent): number {
  return Math.max(ratio, (roomFor(to.description) * 1.01) / Math.max(1, tokens));
}

function bounded(ratio: number): number {
  return Math.min(mostRatio, Math.max(leastRatio, ratio));
}

function toolTokens({ shown, output }: BoundAgent): number {
  return tokensOfJson(shown) + (output ? tokensOfJson(output.spec.schema) : 0);
}

function pluginTokens({ plugins, step }: RunState): number {
  const instructions = step?.changes.instructions?.length ?? 0;
  const said = plugins.context.reduce((sum, { text }) => sum + text.length, 0);
  const fixed = step?.context.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
  return tokensIn(instructions + Math.max(said, fixed));
}
