/** The front door: everything a user imports from "holdfast". The only re-export file besides the other entries. */
export { type AgentOptions, agent } from "./agent.ts";
export { fileContent } from "./content/files.ts";
export { createRuntime } from "./create-runtime.ts";
export { createWorker, type Worker } from "./create-worker.ts";
export type { RetentionPolicy } from "./dispatchers/retention.ts";
export type { Agent, Delegate } from "./domain/agent.ts";
export type { AiSdkModel } from "./domain/ai-sdk-model.ts";
export type { ApprovalTerms, Audience } from "./domain/approval.ts";
export type { Command, ContextMessage, PolicyRef } from "./domain/command.ts";
export { asContent, type ContentOptions } from "./domain/content.ts";
export type { DeclaredManifest, Manifest } from "./domain/declared-manifest.ts";
export { type DelegateOptions, delegate } from "./domain/delegate.ts";
export type { Delta, MessagePartial, MessageRetracted } from "./domain/delta.ts";
export type { Detector } from "./domain/detectors.ts";
export type { FinishReason } from "./domain/entry.ts";
export {
  type ErrorCode,
  errorCatalogue,
  HoldfastError,
  isHoldfastError,
  SinkRefusal,
  ToolFailure,
} from "./domain/errors.ts";
export type { RunEvent } from "./domain/event.ts";
export type { EventFilter } from "./domain/event-filter.ts";
export type { InputId, RunId, Scope, ThreadId, TicketId } from "./domain/ids.ts";
export type { JsonValue } from "./domain/json.ts";
export type { ManifestDifference } from "./domain/manifest-diff.ts";
export { type ContentRef, type Message, type Part, textOf } from "./domain/message.ts";
export type { ModelDescription } from "./domain/model.ts";
export type { Overrides, ReasoningEffort } from "./domain/overrides.ts";
export type { Phase } from "./domain/phase.ts";
export {
  type CallPhaseView,
  type CallView,
  type CancelView,
  type ConfiguredPlugin,
  type DecisionView,
  type DeltaView,
  type EndView,
  type Hooks,
  type OutgoingRequest,
  type OutputView,
  type PhaseView,
  type PluginInstance,
  type PluginOptions,
  type PluginRun,
  type PolicyVerdict,
  plugin,
  type ReplyView,
} from "./domain/plugin.ts";
export { type Policy, type PolicyOptions, policy } from "./domain/policy.ts";
export type { RedactOptions } from "./domain/redaction.ts";
export type { AgentBackend, RemoteAgentOptions } from "./domain/remote-agent.ts";
export type { Outcome, StoppedRun, Usage } from "./domain/run.ts";
export type { RunView } from "./domain/run-view.ts";
export { Secret, secret } from "./domain/secret.ts";
export type { SinkMessage, SinkOutcome } from "./domain/sink-message.ts";
export { type MergedKey, type StateKey, type StateKeyOptions, stateKey } from "./domain/state-key.ts";
export type { Decision, PathStep, TicketKind } from "./domain/ticket.ts";
export {
  type EffectClass,
  type Reconciled,
  type Tool,
  type ToolContext,
  type ToolOptions,
  tellModel,
  tool,
} from "./domain/tool.ts";
export type { RuntimeOptions, WorkerOptions } from "./options.ts";
export { jsonSchema } from "./platform/json-schema.ts";
export type { AgentResolver, WantedAgent } from "./ports/agent-resolver.ts";
export type { BackendFactory } from "./ports/backend.ts";
export type { ContentDefinition } from "./ports/content-store.ts";
export type { Model, ModelPart, ModelRequest, Provider, Providers } from "./ports/provider.ts";
export type { Sink, SinkContext } from "./ports/sink.ts";
export type { EvidenceRow, StoreDefinition } from "./ports/store.ts";
export type { ListedRun, PlacedMessage } from "./ports/thread-store.ts";
export { fromAiSdk } from "./providers/ai-sdk/from-ai-sdk.ts";
export type { AiSdkOptions } from "./providers/ai-sdk/options.ts";
export type { BreakerOptions } from "./providers/pool/breaker.ts";
export type { PoolMember, PoolOptions } from "./providers/pool/options.ts";
export { type MemberHealth, type Pool, pool } from "./providers/pool/pool.ts";
export { runWorker } from "./run-worker.ts";
export type { CollectOptions, Content, Contents } from "./runtime/content.ts";
export type { RuntimeMetrics } from "./runtime/metrics.ts";
export type { NewFile, NewMessage, NewPart } from "./runtime/new-message.ts";
export type { Page, PageOptions } from "./runtime/pages.ts";
export type {
  ActOptions,
  AnswerOptions,
  ForkOptions,
  Idle,
  ListRuns,
  ListTickets,
  PruneOptions,
  RetellOptions,
  Run,
  RunResult,
  Runs,
  Runtime,
  SentInput,
  Settlement,
  StartInput,
  StartOptions,
  Ticket,
  Tickets,
  WatchEvent,
  WatchOptions,
} from "./runtime/runtime.ts";
export type { StateOptions, StateSnapshot } from "./runtime/state.ts";
export type { Task } from "./runtime/tasks.ts";
export type { CreateThread, Thread, Threads } from "./runtime/thread-shapes.ts";
export { jsonlSink } from "./sinks/jsonl.ts";
export { memory } from "./stores/memory/memory.ts";
