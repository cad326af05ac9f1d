/**
 * The names in spans: those of OpenTelemetry's conventions for generative AI, which no package of theirs has, and our own
 * where there is no convention. The conventions are still in development; when they change, they change here.
 */

export const operations = {
  chat: "chat",
  invokeAgent: "invoke_agent",
  executeTool: "execute_tool",
  /** Ours: a later stretch of a run. Not invoke_agent, or whoever counts those would count the run twice. */
  resumeAgent: "resume_agent",
} as const;

export const genAi = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  tool: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  call: "gen_ai.tool.call.id",
  callArguments: "gen_ai.tool.call.arguments",
  callResult: "gen_ai.tool.call.result",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
} as const;

export const errorType = "error.type";

export const ours = {
  run: "holdfast.run.id",
  scope: "holdfast.scope",
  step: "holdfast.step",
  steps: "holdfast.steps",
  attempt: "holdfast.attempt",
  outcome: "holdfast.outcome",
  outcomeCode: "holdfast.outcome.code",
  /** Why a later stretch began: decision, cancel, wake or takeover. */
  resumeReason: "holdfast.resume.reason",
  /** The span was ended without an end of what it stands for. */
  unfinished: "holdfast.unfinished",
  ticket: "holdfast.ticket.id",
  ticketKind: "holdfast.ticket.kind",
  ticketName: "holdfast.ticket.name",
  decision: "holdfast.decision",
  decidedBy: "holdfast.decision.by",
} as const;
