/** A remote turn as the journal has it: what was committed before it was sent, and what came back. */
import type { MessageId } from "../ids.ts";
import type { BackendStatus } from "../seed-tables/backend-status.ts";
import type { Termination } from "../seed-tables/termination.ts";
import type { Adaptation } from "./negotiate.ts";
import type { RemoteTask } from "./result.ts";
import type { RemoteWait } from "./ruling.ts";

/** In the intent: our ids, and what the turn goes on from. */
export interface RemoteIntent {
  readonly message: MessageId;
  readonly context: string;
  /** The task that it continues, and what that had asked for. */
  readonly task?: RemoteTask;
  readonly answers?: RemoteWait;
  /** What was asked for and is done in another way. */
  readonly adapted?: readonly Adaptation[];
}

/** In the settlement. */
export interface RemoteSettlement {
  readonly status: BackendStatus;
  readonly termination: Termination;
  /** The backend's own words for the status. */
  readonly statusReason?: string;
  readonly task?: RemoteTask;
  /** Milliseconds from the call to its answer. */
  readonly tookMs: number;
  /** Parts of the output that were not kept. */
  readonly dropped?: readonly ("artifacts" | "raw")[];
}

/** Run state keys that only the engine writes. */
export const remoteTaskKey = "__runtime_remote_backend";
export const backendOutputKey = "__runtime_backend_output";
