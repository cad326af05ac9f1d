/** A2A: runs whose turns are made by an agent at the other side of the Agent2Agent protocol, 1.0 or 0.3. */
import type { RemoteEndpoint } from "../../domain/backend/endpoint.ts";
import { nodeClock } from "../../platform/node-clock.ts";
import type { RemoteBackend } from "../../ports/backend.ts";
import { a2aCapabilities } from "./capabilities.ts";
import { abortTask, lookForTurn } from "./look.ts";
import { readSettings } from "./options.ts";
import { createReach } from "./remote.ts";
import { executeTurn } from "./turn.ts";

/** Nothing is asked of the other side before the first turn. */
export function createA2aBackend(endpoint: RemoteEndpoint): RemoteBackend {
  const settings = readSettings(endpoint);
  const parts = { settings, clock: nodeClock, reach: createReach(settings) };
  return {
    name: "a2a",
    capabilities: a2aCapabilities,
    executeRoot: (turn) => executeTurn(turn, parts),
    executeDelegate: (turn) => executeTurn(turn, parts),
    look: (what) => lookForTurn(what, parts),
    abort: (what) => abortTask(what, parts),
  };
}
