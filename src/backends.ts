/** For whoever writes a backend: `import { remoteBackend } from "holdfast/backends"`. What each has to do is in its file comment. */
export { backendFactory, configuredBackend, remoteBackend } from "./backends/define.ts";
export { type BackendErrorCode, backendError } from "./domain/backend/backend-error.ts";
export { type Capabilities, fullCapabilities, remoteStatelessText } from "./domain/backend/capabilities.ts";
export {
  type EndpointAuth,
  type EndpointOptions,
  type LegacyEndpoint,
  type RemoteEndpoint,
  readEndpoint,
} from "./domain/backend/endpoint.ts";
export {
  type Adaptation,
  type DelegatePolicy,
  type Feature,
  type Negotiated,
  negotiate,
  type Requirement,
} from "./domain/backend/negotiate.ts";
export type { BackendArtifact, BackendOutput, BackendResult, RemoteTask } from "./domain/backend/result.ts";
export type { BackendStatus } from "./domain/seed-tables/backend-status.ts";
export type { Termination } from "./domain/seed-tables/termination.ts";
export type {
  BackendFactory,
  ConfiguredBackend,
  ParentContext,
  RemoteAbort,
  RemoteBackend,
  RemoteLook,
  RemoteSight,
  RemoteTurn,
} from "./ports/backend.ts";
