/** What a turn brings, as the protocol's message: with our ids, exactly as they were committed. */
import { Role, type SendMessageRequest, type Message as WireMessage, type Part as WirePart } from "@a2a-js/sdk";
import { backendError } from "../../domain/backend/backend-error.ts";
import type { FileSource, Message, Part } from "../../domain/message.ts";
import type { RemoteTurn } from "../../ports/backend.ts";

const accepted = ["text/plain", "application/json", "application/octet-stream"];

export function sendRequest(turn: RemoteTurn): SendMessageRequest {
  return {
    tenant: "",
    message: messageOf(turn),
    // A stream is followed anyway; without one the task is looked at until it rests.
    configuration: { acceptedOutputModes: accepted, taskPushNotificationConfig: undefined, returnImmediately: true },
    metadata: undefined,
  };
}

function messageOf(turn: RemoteTurn): WireMessage {
  const parts = partsOf(turn);
  if (parts.length === 0) {
    throw backendError("backend-execution-failed", `run ${turn.identity.run} has nothing to send in step ${turn.step}`);
  }
  const isContinuing = turn.answers !== undefined && turn.task !== undefined;
  return {
    messageId: turn.message,
    // A task that is continued lives in the context that the other side gave it, if it gave it another one.
    contextId: isContinuing ? (turn.task?.context ?? turn.context) : turn.context,
    taskId: isContinuing ? (turn.task?.task ?? "") : "",
    role: Role.ROLE_USER,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** The new messages of users where there are any; else the whole as one text. */
function partsOf({ newMessages, text }: RemoteTurn): WirePart[] {
  const visible = newMessages.filter(({ role, visibility }: Message) => role === "user" && visibility === "all");
  const parts = visible.flatMap((message) => message.parts.map(partOf)).filter((part) => part !== undefined);
  if (parts.length > 0) return parts;
  return text === "" ? [] : [wirePart({ $case: "text", value: text }, { mediaType: "text/plain" })];
}

/** Reasoning and calls of tools are ours and stay here. */
function partOf(part: Part): WirePart | undefined {
  switch (part.type) {
    case "text":
      return part.text === "" ? undefined : wirePart({ $case: "text", value: part.text }, { mediaType: "text/plain" });
    case "image":
      return wirePart(bytesOf(part), { mediaType: part.mediaType });
    case "file":
      return wirePart(bytesOf(part), { mediaType: part.mediaType, filename: part.name ?? "" });
    case "data":
      return wirePart({ $case: "data", value: part.data }, { mediaType: "application/json", filename: part.name });
    case "reasoning":
    case "tool-call":
    case "tool-result":
      return undefined;
    default:
      return part satisfies never;
  }
}

type Content = NonNullable<WirePart["content"]>;

/** A data: address holds the bytes themselves. What is kept by its hash is read by the engine before a turn. */
function bytesOf(source: FileSource): Content {
  if ("content" in source) {
    const { hash } = source.content;
    throw backendError(
      "backend-execution-failed",
      `the bytes of content ${hash} were not read before they were to be sent`,
    );
  }
  const { url } = source;
  const [, base64, body] = /^data:[^,]*?(;base64)?,(.*)$/s.exec(url) ?? [];
  if (body === undefined) return { $case: "url", value: url };
  const bytes = base64 === undefined ? Buffer.from(decodeURIComponent(body)) : Buffer.from(body, "base64");
  return { $case: "raw", value: bytes };
}

function wirePart(content: Content, { mediaType = "", filename = "" }: Partial<WirePart>): WirePart {
  return { content, metadata: undefined, filename, mediaType };
}
