/** What a backend answers: how a turn came out, what was said, and what else came with it. */
import type { JsonObject, JsonValue } from "../json.ts";
import type { Usage } from "../run.ts";
import type { BackendReport, BackendStatus } from "../seed-tables/backend-status.ts";
import type { Termination } from "../seed-tables/termination.ts";

/** Absent members are unknown or empty. A text of "" is a text: it was said that there is nothing to say. */
export interface BackendOutput {
  readonly text?: string;
  readonly artifacts?: readonly BackendArtifact[];
  /** As the other side wrote it, for whoever wants more. */
  readonly raw?: JsonValue;
}

export interface BackendArtifact {
  readonly id?: string;
  readonly name?: string;
  readonly mediaType?: string;
  readonly content: JsonValue;
}

/** The other side's ids: which task a message became, and in which of its conversations. */
export interface RemoteTask {
  readonly task: string;
  readonly context?: string;
}

export interface BackendResult {
  readonly status: BackendStatus;
  /** How it says it ended; follows from the status unless said. */
  readonly termination?: Termination;
  /** In its own words; follows from status and termination unless said. */
  readonly statusReason?: string;
  /** What it said, where the output has no text. */
  readonly response?: string;
  readonly output?: BackendOutput;
  /** The task that it was, where there was one. */
  readonly task?: RemoteTask;
  /** Tokens that the other side says it has used. Absent is unknown, never 0. */
  readonly usage?: Usage;
  /** Run state that the other side gives back. */
  readonly state?: JsonObject;
}

export function reportOf({ status, termination }: BackendResult): BackendReport {
  return { status, termination: termination ?? terminationOfStatus(status) };
}

function terminationOfStatus(status: BackendStatus): Termination {
  switch (status.kind) {
    case "completed":
      return { type: "natural_end" };
    case "waiting_input":
    case "waiting_auth":
    case "suspended":
      return { type: "suspended" };
    case "failed":
      return { type: "error", value: status.message };
    case "cancelled":
      return { type: "cancelled" };
    case "timeout":
      return { type: "error", value: "the remote did not answer in time" };
    default:
      return status satisfies never;
  }
}

/** The text wins also when it is empty; then the fallback; then nothing. */
export function textOr({ text }: BackendOutput, fallback: string | undefined): string | undefined {
  return text ?? fallback;
}

/** What was said, and the output with it: an output without a text takes the response as one. */
export function saidBy({ output = {}, response }: BackendResult): {
  readonly response: string;
  readonly output: BackendOutput;
} {
  const said = textOr(output, response) ?? "";
  return { response: said, output: output.text === undefined && said !== "" ? { ...output, text: said } : output };
}

export function isEmptyOutput({ text, artifacts = [], raw }: BackendOutput): boolean {
  return text === undefined && artifacts.length === 0 && raw === undefined;
}

/** Without its empty members, as it is stored. */
export function writtenOutput({ text, artifacts = [], raw }: BackendOutput): JsonObject {
  return {
    ...(text === undefined ? {} : { text }),
    ...(artifacts.length === 0 ? {} : { artifacts: artifacts.map((artifact) => ({ ...artifact })) }),
    ...(raw === undefined ? {} : { raw }),
  };
}

/** Whether the other side still has work of this task, or may have: then it is told when we leave. */
export function mayStillRun({ status }: BackendResult): boolean {
  return status.kind !== "completed" && status.kind !== "failed" && status.kind !== "cancelled";
}
