/** A2A: runs whose turns are made by an agent at the other side of the Agent2Agent protocol, 1.0 or 0.3. */
import type { Capabilities } from "../../domain/backend/capabilities.ts";
import type { RemoteEndpoint } from "../../domain/backend/endpoint.ts";
import { nodeClock } from "../../platform/node-clock.ts";
import type { RemoteBackend } from "../../ports/backend.ts";
import { abortTask, lookForTurn } from "./look.ts";
import { readSettings } from "./options.ts";
import { createReach } from "./remote.ts";
import { executeTurn } from "./turn.ts";

const capabilities: Capabilities = {
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

/** Nothing is asked of the other side before the first turn. */
export function createA2aBackend(endpoint: RemoteEndpoint): RemoteBackend {
  const settings = readSettings(endpoint);
  const parts = { settings, clock: nodeClock, reach: createReach(settings) };
  return {
    name: "a2a",
    capabilities,
    executeRoot: (turn) => executeTurn(turn, parts),
    executeDelegate: (turn) => executeTurn(turn, parts),
    look: (what) => lookForTurn(what, parts),
    abort: (what) => abortTask(what, parts),
  };
}
