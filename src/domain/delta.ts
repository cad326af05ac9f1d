/** Delta: a live fragment of what is being made. Told as it comes, never the only copy, stamped with its attempt. */
import type { CallId, MessageId, RunId, ThreadId } from "./ids.ts";
import type { JsonValue } from "./json.ts";

interface LiveStamp {
  readonly run: RunId;
  readonly thread: ThreadId;
  readonly step: number;
  readonly attempt: number;
}

/** A piece of the message that a model is writing. */
export type MessageDelta = LiveStamp & {
  readonly message: MessageId;
} & (
    | { readonly type: "text-delta" | "reasoning-delta"; readonly text: string }
    | { readonly type: "tool-input-delta"; readonly index: number; readonly tool: string; readonly text: string }
  );

/** What a running tool says of itself through `ctx.report`. */
export type ToolProgress = LiveStamp & {
  readonly type: "tool-progress";
  readonly call: CallId;
  readonly progress: JsonValue;
};

export type Delta = MessageDelta | ToolProgress;

/** For a watcher that joins during a message: what was written so far. Deltas go on from here. */
export type MessagePartial = LiveStamp & {
  readonly type: "message-partial";
  readonly message: MessageId;
  readonly text: string;
  readonly reasoning: string;
  /** Input of its tool calls so far, by the calls' index. */
  readonly inputs: readonly { readonly index: number; readonly tool: string; readonly text: string }[];
};

/** The attempt whose pieces were shown is over without a message: forget them. */
export type MessageRetracted = LiveStamp & {
  readonly type: "message-retracted";
  readonly message: MessageId;
};

/** Everything that is told while it happens. */
export type Told = Delta | MessageRetracted;
