import type { Capabilities } from "../../domain/backend/capabilities.ts";

export const a2aCapabilities: Capabilities = {
  cancellation: "cooperative-token-and-remote-abort",
  decisions: false,
  overrides: false,
  frontendTools: false,
  continuation: "remote-state",
  waits: "input-and-auth",
  transcript: "incremental-user-messages",
  output: "text-and-artifacts",
  persistence: "durable",
};
