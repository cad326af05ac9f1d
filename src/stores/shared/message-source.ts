/** Where the body of an appended message lies: each body is stored once. */
import type { Entry, MessageBody } from "../../domain/entry.ts";
import { HoldfastError } from "../../domain/errors.ts";
import type { Message } from "../../domain/message.ts";

export type CitedBody = Exclude<MessageBody, { kind: "here" }>;

/** Seq of the entry that brought it in. */
export function sourceSeq(body: CitedBody): number {
  return body.kind === "created" ? 1 : body.from;
}

export function messageFrom(source: Entry | undefined, body: CitedBody): Message {
  const message = messageIn(source, body);
  if (message) return message;
  throw new HoldfastError("entry-unreadable", `A message points to entry ${sourceSeq(body)}, which holds none`);
}

function messageIn(source: Entry | undefined, body: CitedBody): Message | undefined {
  if (source?.type === "run-created" && body.kind === "created") return source.input[body.index];
  return source?.type === "input-received" ? source.message : undefined;
}
