/** A backend's answer as foreign code gave it: checked in every field, or refused with what is wrong. */
import { type JsonObject, type JsonValue, shortened, toJson, valueLimits } from "../json.ts";
import { readUsage } from "../run.ts";
import type { BackendStatus } from "../seed-tables/backend-status.ts";
import { readTermination } from "../seed-tables/termination.ts";
import type { BackendArtifact, BackendOutput, BackendResult, RemoteTask } from "./result.ts";

type Read = { readonly ok: true; readonly result: BackendResult } | { readonly ok: false; readonly problem: string };

export function readResult(answer: unknown): Read {
  const json = toJson(answer, { ...valueLimits, maxBytes: mostBytes });
  if (!json.ok) return { ok: false, problem: `what it answered cannot be kept: ${json.problem} at ${json.path}` };
  if (!isRecord(json.value)) return { ok: false, problem: "it answered what is no result" };
  const { status: said, termination: ended, task: seen, output: given = {}, ...rest } = json.value;
  const status = readStatus(said);
  const termination = ended === undefined ? undefined : readTermination(ended);
  const output = readOutput(given);
  const wrong = [
    ...(status ? [] : ["status"]),
    ...(ended !== undefined && !termination ? ["termination"] : []),
    ...(seen !== undefined && !readTask(seen) ? ["task"] : []),
    ...(output ? [] : ["output"]),
    ...["statusReason", "response"].filter((name) => rest[name] !== undefined && typeof rest[name] !== "string"),
    ...(rest.state !== undefined && !isRecord(rest.state) ? ["state"] : []),
  ];
  if (!status || !output || wrong.length > 0)
    return { ok: false, problem: `it answered a result whose ${wrong.join(", ")} cannot be read` };
  const usage = readUsage(rest.usage);
  return {
    ok: true,
    result: {
      status,
      ...(termination ? { termination } : {}),
      ...(typeof rest.statusReason === "string" ? { statusReason: shortened(rest.statusReason) } : {}),
      ...(typeof rest.response === "string" ? { response: rest.response } : {}),
      output,
      ...(seen === undefined ? {} : { task: seen as unknown as RemoteTask }),
      ...(usage ? { usage } : {}),
      ...(isRecord(rest.state) ? { state: rest.state } : {}),
    },
  };
}

/** Of all that one turn brings. */
const mostBytes = 16 * 1024 * 1024;

function readStatus(said: JsonValue | undefined): BackendStatus | undefined {
  if (!isRecord(said)) return undefined;
  const { kind, message } = said;
  const words = typeof message === "string" ? shortened(message) : undefined;
  switch (kind) {
    case "completed":
    case "cancelled":
    case "timeout":
      return { kind };
    case "waiting_input":
    case "waiting_auth":
    case "suspended":
      return { kind, ...(words === undefined ? {} : { message: words }) };
    case "failed":
      return words === undefined ? undefined : { kind, message: words };
    default:
      return undefined;
  }
}

const longestId = 512;

export function readTask(seen: unknown): RemoteTask | undefined {
  if (!isRecord(seen as JsonValue)) return undefined;
  const { task, context } = seen as JsonObject;
  if (!isId(task) || (context !== undefined && !isId(context))) return undefined;
  return { task, ...(context === undefined ? {} : { context }) };
}

function isId(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= longestId;
}

function readOutput(given: JsonValue): BackendOutput | undefined {
  if (!isRecord(given)) return undefined;
  const { text, artifacts = [], raw } = given;
  if (text !== undefined && typeof text !== "string") return undefined;
  if (!Array.isArray(artifacts)) return undefined;
  const list = (artifacts as readonly JsonValue[]).map(readArtifact);
  if (list.includes(undefined)) return undefined;
  return {
    ...(text === undefined ? {} : { text }),
    ...(list.length === 0 ? {} : { artifacts: list as BackendArtifact[] }),
    ...(raw === undefined ? {} : { raw }),
  };
}

function readArtifact(given: JsonValue): BackendArtifact | undefined {
  if (!isRecord(given) || given.content === undefined) return undefined;
  const { id, name, mediaType, content } = given;
  const texts = { id, name, mediaType };
  const isText = Object.values(texts).every((value) => value === undefined || typeof value === "string");
  if (!isText) return undefined;
  const said = Object.entries(texts).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(said) as Pick<BackendArtifact, "id" | "name" | "mediaType">), content };
}

function isRecord(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
