/** What a task that rests means for the run: status, text and artifacts, within the bound. */
import { type Artifact, type Message, type Part, Role, TaskState } from "@a2a-js/sdk";
import type { BackendArtifact, BackendResult, RemoteTask } from "../../domain/backend/result.ts";
import { type JsonValue, toJson } from "../../domain/json.ts";
import type { BackendStatus } from "../../domain/seed-tables/backend-status.ts";
import type { TaskView } from "./view.ts";

export function resultOf(view: TaskView, maxBytes: number): BackendResult {
  const task = taskOf(view);
  const status = statusOf(view);
  const text = saidIn(view);
  const artifacts = view.artifacts.map(artifactOf);
  const size = Buffer.byteLength(JSON.stringify(artifacts)) + Buffer.byteLength(text ?? "");
  if (size > maxBytes) return tooLarge(`it answered with ${size} bytes; ${maxBytes} are taken`, task);
  return {
    status,
    output: { ...(text === undefined ? {} : { text }), ...(artifacts.length === 0 ? {} : { artifacts }) },
    ...(task === undefined ? {} : { task }),
  };
}

export function tooLarge(why: string, task: RemoteTask | undefined): BackendResult {
  return { status: { kind: "failed", message: `the remote's answer is refused: ${why}` }, ...(task ? { task } : {}) };
}

export function taskOf({ id, context }: TaskView): RemoteTask | undefined {
  return id === undefined ? undefined : { task: id, ...(context === undefined ? {} : { context }) };
}

function statusOf({ status, answer }: TaskView): BackendStatus {
  if (answer !== undefined) return { kind: "completed" };
  const said = textOf(status?.message?.parts ?? []);
  const message = said === undefined ? {} : { message: said };
  switch (status?.state) {
    case TaskState.TASK_STATE_COMPLETED:
      return { kind: "completed" };
    case TaskState.TASK_STATE_CANCELED:
      return { kind: "cancelled" };
    case TaskState.TASK_STATE_FAILED:
      return { kind: "failed", message: said ?? "the remote failed without a word" };
    case TaskState.TASK_STATE_REJECTED:
      return { kind: "failed", message: said ?? "the remote rejected the task without a word" };
    case TaskState.TASK_STATE_INPUT_REQUIRED:
      return { kind: "waiting_input", ...message };
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return { kind: "waiting_auth", ...message };
    default:
      return { kind: "timeout" }; // it does not rest; asked only when the time is over
  }
}

/** The first artifact that says something, else what the status says, else the agent's newest message. */
function saidIn({ answer, artifacts, status, history }: TaskView): string | undefined {
  if (answer !== undefined) return textOf(answer.parts);
  const [first] = artifacts.map(({ parts }) => textOf(parts)).filter((text) => text !== undefined);
  const newest = history.findLast(({ role }: Message) => role === Role.ROLE_AGENT);
  return first ?? textOf(status?.message?.parts ?? []) ?? textOf(newest?.parts ?? []);
}

/** Pieces of one text come as several parts, so nothing is put between them. */
function textOf(parts: readonly Part[]): string | undefined {
  const texts = parts.map(({ content }) => {
    if (content?.$case === "text") return content.value;
    return content?.$case === "data" ? JSON.stringify(content.value ?? null) : undefined;
  });
  const said = texts.filter((text) => text !== undefined);
  return said.length === 0 ? undefined : said.join("");
}

function artifactOf({ artifactId, name, parts }: Artifact): BackendArtifact {
  const [only] = parts;
  const mediaType = parts.length === 1 ? only?.mediaType : undefined;
  return {
    ...(artifactId === "" ? {} : { id: artifactId }),
    ...(name === "" ? {} : { name }),
    ...(mediaType === undefined || mediaType === "" ? {} : { mediaType }),
    content: parts.every(({ content }) => content?.$case === "text") ? (textOf(parts) ?? "") : contentOf(parts),
  };
}

function contentOf(parts: readonly Part[]): JsonValue {
  const [only] = parts;
  if (parts.length === 1 && only?.content?.$case === "data") return plain(only.content.value);
  return parts.map(partOf);
}

/** Bytes are base64, as they came. An address is an address: nobody here follows it. */
function partOf({ content, mediaType, filename }: Part): JsonValue {
  const more = { ...(mediaType === "" ? {} : { mediaType }), ...(filename === "" ? {} : { filename }) };
  switch (content?.$case) {
    case "text":
      return { ...more, text: content.value };
    case "raw":
      return { ...more, base64: content.value.toString("base64") };
    case "url":
      return { ...more, url: content.value };
    case "data":
      return { ...more, data: plain(content.value) };
    default:
      return more;
  }
}

function plain(value: unknown): JsonValue {
  const json = toJson(value ?? null);
  return json.ok ? json.value : `(${json.path} is ${json.problem})`;
}
