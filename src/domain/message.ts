/** Message and its parts: the one internal shape. Providers and protocols translate at their edge. */
import type { CallId, MessageId, RunId } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";

export type Role = "system" | "user" | "assistant" | "tool";

/** What a provider wants back verbatim, by its name: each adapter reads and sends its own and no other's. */
export type PartMetadata = Readonly<Record<string, JsonObject>>;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly metadata?: PartMetadata;
}
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly metadata?: PartMetadata;
}
/** Where the bytes of a part are: at an address, which may hold them itself (`data:`), or kept as content. */
export type FileSource = { readonly url: string } | { readonly content: ContentRef };

export type ImagePart = { readonly type: "image"; readonly mediaType: string } & FileSource;

/** A document, a sound, and whatever else is no image. A model may have made it. */
export type FilePart = {
  readonly type: "file";
  readonly mediaType: string;
  readonly name?: string;
  readonly metadata?: PartMetadata;
} & FileSource;

export interface ToolCallPart {
  readonly type: "tool-call";
  readonly call: CallId;
  readonly tool: string;
  readonly input: CallInput;
  /** What the provider called it; an alias, never an identity of ours. */
  readonly alias?: string;
  readonly metadata?: PartMetadata;
}
export interface ToolResultPart {
  readonly type: "tool-result";
  readonly call: CallId;
  readonly tool: string;
  readonly result: CallResult;
}
export interface DataPart {
  readonly type: "data";
  readonly name: string;
  readonly data: JsonValue;
}

/** What a result may show besides words. */
export type ShownPart = ImagePart | FilePart;

export type Part = TextPart | ReasoningPart | ImagePart | FilePart | ToolCallPart | ToolResultPart | DataPart;

/** Raw JSON as the model wrote it; text that is not JSON is kept to be shown, never repaired. */
export type CallInput =
  | { readonly kind: "json"; readonly value: JsonValue }
  | { readonly kind: "text"; readonly text: string; readonly problem: string };

/** Bytes that are kept outside the journal, in the run's scope; see content.ts. */
export interface ContentRef {
  /** Lower-case hex SHA-256 of the bytes. */
  readonly hash: string;
  readonly bytes: number;
  readonly mediaType: string;
}

export function isContentRef(value: unknown): value is ContentRef {
  const { hash, bytes, mediaType } = Object(value) as Partial<ContentRef>;
  const isHash = typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash);
  return isHash && Number.isInteger(bytes) && Number(bytes) >= 0 && typeof mediaType === "string";
}

/** Every call ends with exactly one of these in the transcript. */
export type CallResult =
  | {
      readonly kind: "value";
      /** null where the result is content. */
      readonly value: JsonValue;
      /** What the model reads instead of the value. */
      readonly say?: string;
      readonly content?: ContentRef;
      /** What a model that reads such is shown besides; the words name it. */
      readonly shown?: readonly ShownPart[];
    }
  | { readonly kind: "error"; readonly code: CallErrorCode; readonly message: string };

export type CallErrorCode =
  | "unknown-tool"
  | "invalid-input"
  | "tool-failed"
  | "invalid-result"
  | "rejected"
  | "denied"
  | "plugin-failed"
  | "timed-out"
  | "outcome-unknown"
  | "marked-failed"
  | "delegate-failed"
  | "not-run"
  | "aborted";

export interface Producer {
  readonly run: RunId;
  readonly step?: number;
}

export interface Message {
  readonly id: MessageId;
  readonly role: Role;
  readonly parts: readonly Part[];
  /** Internal messages are for the model, not for people. */
  readonly visibility: "all" | "internal";
  readonly producer?: Producer;
}

export function textOf(message: Message): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export function callsOf(message: Message): readonly ToolCallPart[] {
  return message.parts.filter((part) => part.type === "tool-call");
}

/** First writer wins: an existing producer stamp is never overwritten. */
export function stampProducer(message: Message, producer: Producer): Message {
  return message.producer ? message : { ...message, producer };
}
