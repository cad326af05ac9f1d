/** Carries out a compaction: one call of the summariser, over the conversation as words. */
import { HoldfastError } from "../domain/errors.ts";
import { describeFile } from "../domain/file-part.ts";
import type { MessageId } from "../domain/ids.ts";
import type { Message, Part } from "../domain/message.ts";
import type { ModelRequest } from "../ports/provider.ts";
import { openAssembly, type Reply } from "./assemble-reply.ts";
import { modelFailure } from "./call-model.ts";
import { openReplyFiles } from "./reply-files.ts";
import { settleWithin } from "./settle-within.ts";
import type { Stage } from "./stage.ts";
import { watchIdle } from "./watch-idle.ts";
import type { CompactionOrder, ModelOutcome, Performance } from "./work.ts";

export async function summarise(what: Performance<CompactionOrder>, stage: Stage): Promise<ModelOutcome> {
  const { order, controller } = what;
  if (stage.clock.monotonic() >= order.beginBy) return { kind: "not-made" };
  const within = await settleWithin(read(what, stage), order.timeoutMs, stage);
  if (within.kind === "value") return { kind: "reply", ...within.value };
  const wasStopped = controller.signal.aborted && !(controller.signal.reason instanceof HoldfastError);
  if (within.kind === "threw") return wasStopped ? { kind: "aborted" } : modelFailure(within.cause);
  const late = new HoldfastError("model-timeout", `The summary did not come in ${order.timeoutMs} ms`);
  controller.abort(late);
  return modelFailure(late);
}

async function read({ order, state, controller }: Performance<CompactionOrder>, stage: Stage): Promise<Reply> {
  const { run } = state.created.identity;
  const model = stage.boundAgent.summariser ?? stage.boundAgent.model;
  const assembly = openAssembly({ run, step: order.step }, openReplyFiles(stage));
  const { modelIdleMs } = stage.limits;
  const watch = watchIdle(modelIdleMs, stage, () => {
    controller.abort(new HoldfastError("model-timeout", `The summariser has said nothing for ${modelIdleMs} ms`));
  });
  try {
    for await (const part of model.call(requestFor({ order, state, controller }, stage), controller.signal)) {
      watch.moved();
      if (part?.type === "file") continue; // a summary is words
      const problem = assembly.add(part);
      if (problem) throw new HoldfastError("model-malformed", `The summariser broke its protocol: ${problem}`);
    }
  } finally {
    watch.stop();
  }
  const reply = assembly.end();
  if (reply) return reply;
  throw new HoldfastError("model-interrupted", "The summariser broke off before its answer was whole");
}

function requestFor({ order, state }: Performance<CompactionOrder>, stage: Stage): ModelRequest {
  const { boundAgent, transcript } = stage;
  const { mark, messages } = transcript.candidates([]);
  const end = messages.findIndex(({ id }) => id === order.upTo) + 1;
  const told = messages.slice(0, end).map(inWords);
  const before = mark?.summary ? [`Summary of what was before:\n${mark.summary.text}`] : [];
  const text = [...before, ...told].join("\n");
  return {
    agent: boundAgent.name,
    thread: state.created.identity.thread,
    step: order.step,
    attempt: order.attempt,
    instructions: boundAgent.history.compact?.instructions ?? "",
    messages: [
      {
        id: `${order.effect}.asked` as MessageId,
        role: "user",
        parts: [{ type: "text", text }],
        visibility: "internal",
      },
    ],
    tools: [],
    maxOutputTokens: order.maxOutputTokens,
  };
}

/** As JSON: nobody can write what looks like somebody else's turn. */
function inWords({ role, parts }: Message): string {
  const text = parts
    .map(words)
    .filter((each) => each !== "")
    .join("\n");
  return JSON.stringify({ role, text });
}

/** Enough of a result to know what came of the call. */
const resultCharacters = 4_000;

function words(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool-call":
      return `called ${part.tool} with ${part.input.kind === "json" ? JSON.stringify(part.input.value) : part.input.text}`;
    case "tool-result": {
      const { result, tool } = part;
      const text =
        result.kind === "error" ? `${result.code}: ${result.message}` : (result.say ?? JSON.stringify(result.value));
      return `${tool} answered ${text.slice(0, resultCharacters)}`;
    }
    case "data":
      return JSON.stringify(part.data).slice(0, resultCharacters);
    case "image":
    case "file":
      return `(${describeFile(part)})`;
    case "reasoning":
      return "";
    default:
      return part satisfies never;
  }
}
