/** The A2A client's door: `import { a2a } from "holdfast/a2a"`. Apart from the others, for it needs the protocol's package. */
import { createA2aBackend } from "./backends/a2a/backend.ts";
import type { A2aEndpoint } from "./backends/a2a/options.ts";
import { backendFactory, configuredBackend } from "./backends/define.ts";
import { type EndpointOptions, type LegacyEndpoint, readEndpoint } from "./domain/backend/endpoint.ts";
import type { BackendFactory, ConfiguredBackend } from "./ports/backend.ts";

export type { A2aAuth, A2aEndpoint, A2aOptions } from "./backends/a2a/options.ts";

/** Builds the backends of manifests that name "a2a". */
export const a2aBackend: BackendFactory = backendFactory("a2a", createA2aBackend);

/** An agent elsewhere, reached over the Agent2Agent protocol. Nothing is asked of it before the first run. */
export function a2a(endpoint: A2aEndpoint | LegacyEndpoint): ConfiguredBackend {
  return configuredBackend(a2aBackend, readEndpoint(endpoint as EndpointOptions | LegacyEndpoint));
}
