/**
 * Capabilities: what a backend can do for a run, published before anything is asked of it. Every field is read by
 * `negotiate`, by the remote lifecycle or by both.
 */

/** A cooperative token is the request's abort signal; a remote abort is a request to the other side. */
export type CancellationCapability =
  | "none"
  | "cooperative-token"
  | "remote-abort"
  | "cooperative-token-and-remote-abort";
/** Whose state a continued run is continued from. */
export type ContinuationCapability = "none" | "in-process-state" | "remote-state";
/** Which interrupted states it can say without making errors of them. */
export type WaitCapability = "none" | "input" | "auth" | "input-and-auth";
/** What it reads of the conversation: all of it, what is new to a remote that remembers the rest, or one text. */
export type TranscriptCapability = "full-transcript" | "incremental-user-messages" | "single-prompt";
export type OutputCapability = "text" | "text-and-artifacts";
/** Whether what it began can be found again after this process is gone. */
export type PersistenceCapability = "ephemeral" | "durable";

export interface Capabilities {
  readonly cancellation: CancellationCapability;
  /** Answers to tickets of its own calls can be handed to it. */
  readonly decisions: boolean;
  /** Of the model's settings, for one run. */
  readonly overrides: boolean;
  /** Tools without code here: their answer comes from a person or a program outside. */
  readonly frontendTools: boolean;
  readonly continuation: ContinuationCapability;
  readonly waits: WaitCapability;
  readonly transcript: TranscriptCapability;
  readonly output: OutputCapability;
  readonly persistence: PersistenceCapability;
}

/** Everything: what a run in this process has. */
export const fullCapabilities: Capabilities = {
  cancellation: "cooperative-token",
  decisions: true,
  overrides: true,
  frontendTools: true,
  continuation: "in-process-state",
  waits: "input-and-auth",
  transcript: "full-transcript",
  output: "text-and-artifacts",
  persistence: "durable",
};

/** The least: a remote that takes one text and answers one. A backend that publishes nothing has these. */
export const remoteStatelessText: Capabilities = {
  cancellation: "none",
  decisions: false,
  overrides: false,
  frontendTools: false,
  continuation: "none",
  waits: "none",
  transcript: "single-prompt",
  output: "text",
  persistence: "ephemeral",
};

export function supportsCooperativeToken(cancellation: CancellationCapability): boolean {
  return cancellation === "cooperative-token" || cancellation === "cooperative-token-and-remote-abort";
}

export function supportsRemoteAbort(cancellation: CancellationCapability): boolean {
  return cancellation === "remote-abort" || cancellation === "cooperative-token-and-remote-abort";
}
