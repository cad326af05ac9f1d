import { backendError } from "../domain/backend/backend-error.ts";
import { fullCapabilities } from "../domain/backend/capabilities.ts";
import type { EngineDeps } from "../engine/deps.ts";
import { runLoop } from "../engine/run-loop.ts";
import type { Backend } from "../ports/backend.ts";

/** Runs execute in this process, on the one loop. */
export function createInProcessBackend(deps: EngineDeps): Backend {
  return {
    name: "in-process",
    capabilities: fullCapabilities,
    async executeRoot(held) {
      if (!held?.claim) {
        throw backendError("backend-execution-failed", "local root execution requires a phase runtime context");
      }
      await runLoop(held, deps);
    },
  };
}
