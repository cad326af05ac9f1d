/** What spans say of calls, replies and ends. What people and models wrote is said only when content is wanted. */
import type { Attributes } from "@opentelemetry/api";
import type { CallResult } from "../../domain/message.ts";
import type { CallView, DecisionView, EndView, PluginRun, ReplyView } from "../../domain/plugin.ts";
import type { Outcome, Usage } from "../../domain/run.ts";
import { finishReason, outputMessages, type Redact, resultText, said } from "./content.ts";
import { genAi, operations, ours } from "./names.ts";
import type { OpenSpan } from "./spans.ts";

export function commonOf({ id, scope, agent, thread }: PluginRun): Attributes {
  return { [ours.run]: id, [ours.scope]: scope, [genAi.agent]: agent, [genAi.conversation]: thread };
}

export function requestOf({ model }: PluginRun): Attributes {
  return { [genAi.provider]: model.provider, [genAi.requestModel]: model.model };
}

export function replyOf({ reply, run }: ReplyView, content: Redact | undefined): Attributes {
  const { finish, usage, answeredBy = run.model } = reply;
  return {
    [genAi.responseModel]: answeredBy.model,
    [genAi.finishReasons]: [finishReason(finish)],
    ...(usage ? tokensOf(usage) : {}),
    ...(content ? { [genAi.outputMessages]: outputMessages(reply, content) } : {}),
  };
}

/** What the provider did not count is not said. */
function tokensOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Attributes {
  return {
    [genAi.inputTokens]: inputTokens,
    [genAi.outputTokens]: outputTokens,
    ...(cacheReadTokens === undefined ? {} : { [genAi.cacheReadTokens]: cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { [genAi.cacheWriteTokens]: cacheWriteTokens }),
  };
}

export function callOf({ id, tool, input }: CallView, content: Redact | undefined): Attributes {
  return {
    [genAi.operation]: operations.executeTool,
    [genAi.tool]: tool,
    [genAi.toolType]: "function",
    [genAi.call]: id,
    ...(content ? { [genAi.callArguments]: JSON.stringify(content(input)) } : {}),
  };
}

export function endCall(span: OpenSpan, { attempt, result }: CallView, content: Redact | undefined): void {
  span.set({ [ours.attempt]: attempt });
  if (result) sayResult(span, result, content);
  else span.set({ [ours.unfinished]: true });
}

function sayResult(span: OpenSpan, result: CallResult, content: Redact | undefined): void {
  if (content) span.set({ [genAi.callResult]: resultText(result, content) });
  if (result.kind === "error") span.fail(result.code, content ? said(result.message, content) : result.code);
}

export function waitOf({ ticket, decision, by }: DecisionView, content: Redact | undefined): Attributes {
  const { id, kind, name, call, tool } = ticket;
  return {
    [ours.ticket]: id,
    [ours.ticketKind]: kind,
    [ours.decision]: decision.kind,
    ...(name === undefined ? {} : { [ours.ticketName]: name }),
    ...(call === undefined ? {} : { [genAi.call]: call }),
    ...(tool === undefined ? {} : { [genAi.tool]: tool }),
    ...(content ? { [ours.decidedBy]: said(by, content) } : {}),
  };
}

export function endRun(span: OpenSpan, { outcome, usage, stepsEnded }: EndView, content: Redact | undefined): void {
  span.set({
    [ours.outcome]: outcome.kind,
    [ours.steps]: stepsEnded,
    ...tokensOf(usage),
  });
  sayOutcome(span, outcome, content);
}

function sayOutcome(span: OpenSpan, outcome: Outcome, content: Redact | undefined): void {
  if (outcome.kind === "stopped") span.set({ [ours.outcomeCode]: outcome.code });
  if (outcome.kind === "timed-out") span.fail(outcome.kind, outcome.kind);
  if (outcome.kind !== "failed") return;
  const { code, message } = outcome.error;
  span.fail(code, content ? said(message, content) : code);
}
