/**
 * One call of a server's tool.
 *
 * Q1 A call whose outcome is open is never sent again, unless the operator has said that the tool may be repeated.
 * Q2 What was certainly not done is said with ToolFailure, and nothing else is: what an error of the server says is in
 *    outcome.ts. Once anything of the call was sent, be it in an earlier attempt, "not run" is never said: what this attempt
 *    did not do, an earlier one may have done.
 * Q3 A tool that is not what it was pinned as is refused by name, before anything is sent.
 * Q4 Nothing is sent after the call was given up or its time is over.
 */
import { ToolFailure } from "../../domain/errors.ts";
import { type JsonObject, messageOf } from "../../domain/json.ts";
import type { EffectClass, ToolContext } from "../../domain/tool.ts";
import type { Connection } from "./connection.ts";
import { callKey } from "./guard.ts";
import type { Hiding } from "./hide.ts";
import type { McpLimits } from "./limits.ts";
import type { Listing } from "./listing.ts";
import type { Opened } from "./open.ts";
import { type CallEnd, endOfCall } from "./outcome.ts";
import type { McpPin } from "./pins.ts";
import { createProgress } from "./progress.ts";
import { type McpOutcome, readOutcome } from "./result.ts";
import type { Slots } from "./slots.ts";
import { settleWithin } from "./within.ts";

/** What calls share: one of each per server and process. */
export interface Wire {
  readonly server: string;
  readonly connection: Connection;
  readonly listing: Listing;
  readonly slots: Slots;
  readonly limits: McpLimits;
  readonly hiding: Hiding;
}

export interface Call {
  readonly pin: McpPin;
  readonly input: JsonObject;
  readonly context: ToolContext;
  readonly effect: EffectClass;
  readonly timeoutMs: number;
  /** Somebody was asked about it: the tool is looked at again right before it runs. */
  readonly approved: boolean;
}

const mostTries = 4;

export async function callTool(call: Call, wire: Wire): Promise<McpOutcome> {
  const { context, timeoutMs } = call;
  // Half of the call's own time at most: who still waits then is told so, instead of being taken for a lost call.
  const waitMs = Math.min(wire.limits.waitMs, Math.floor(timeoutMs / 2));
  const giveUpAt = performance.now() + waitMs;
  const leave = await wire.slots.take(waitMs, context.signal);
  const trying: Trying = { call, wire, giveUpAt, wasSent: mayHaveRun(call) };
  if (!leave) throw notRun(trying, `${wire.limits.concurrency} calls are with the server already`);
  try {
    return await tryCall(trying);
  } finally {
    leave();
  }
}

interface Trying {
  readonly call: Call;
  readonly wire: Wire;
  /** When there is still no connection by then, it is not sent. */
  readonly giveUpAt: number;
  /** Q2. It has been sent before, or may have been: in an earlier attempt, or over a connection that was lost. */
  wasSent: boolean;
}

/**
 * Q2, for earlier attempts. A later attempt of a `once` call follows only on those that certainly did nothing, unless an
 * operator has said "run again".
 */
function mayHaveRun({ effect, context }: Call): boolean {
  return (effect !== "once" && context.attempt > 1) || context.decision?.decision.kind === "run-again";
}

async function tryCall(trying: Trying): Promise<McpOutcome> {
  const { call, wire } = trying;
  let wasForgotten = false;
  for (let tries = 1; ; tries += 1) {
    const opened = await connected(trying);
    const end = (await unseen(opened, trying)) ?? (await attempt(opened, call, wire));
    switch (end.kind) {
      case "answered":
        wire.connection.worked();
        return end.result;
      case "refused":
        throw notRun(trying, end.why);
      case "unsent":
      case "forgotten": // once: whoever forgets us twice is not asked a third time
        wire.connection.drop(opened, wire.hiding.words(end.why));
        if (tries >= mostTries || (end.kind === "forgotten" && wasForgotten)) throw notRun(trying, end.why);
        wasForgotten ||= end.kind === "forgotten";
        break;
      case "open": // Q1
        if (end.isStale) wire.connection.drop(opened, wire.hiding.words(end.why));
        if (call.effect === "once" || call.context.signal.aborted || tries >= mostTries)
          throw lost(call, wire, end.why);
        trying.wasSent = true;
        break;
      case "error":
        if (end.isStale) wire.connection.drop(opened, wire.hiding.words(end.why));
        throw lost(call, wire, end.why);
      default:
        end satisfies never;
    }
  }
}

async function connected(trying: Trying): Promise<Opened> {
  const { call, wire, giveUpAt } = trying;
  try {
    return await wire.connection.ready(Math.max(0, giveUpAt - performance.now()), call.context.signal);
  } catch (cause) {
    throw notRun(trying, `the server is not connected: ${messageOf(cause)}`);
  }
}

/** Q3, Q4. Undefined when the call may be sent. */
async function unseen(opened: Opened, { call, wire, giveUpAt }: Trying): Promise<CallEnd | undefined> {
  const { signal } = call.context;
  const within = await settleWithin(wire.listing.problem(call.pin, opened, call.approved), call.timeoutMs / 2);
  if (within.kind === "threw") return { kind: "unsent", why: messageOf(within.cause) };
  if (within.kind === "late") return { kind: "refused", why: "its tools could not be looked at in time" };
  if (within.value !== undefined) {
    const why = `it ${within.value} since the agent was defined. Look at it, then define the agent again`;
    return { kind: "refused", why };
  }
  const isLate = performance.now() > giveUpAt + call.timeoutMs / 2;
  return signal.aborted || isLate ? { kind: "refused", why: "it was given up before it was sent" } : undefined;
}

type Attempt = CallEnd | { readonly kind: "answered"; readonly result: McpOutcome };

async function attempt({ client, transport }: Opened, call: Call, { limits, hiding }: Wire): Promise<Attempt> {
  const { pin, input, context, timeoutMs } = call;
  const followed = transport.follow(context.idempotencyKey);
  try {
    const answer = await client.callTool(
      { name: pin.name, arguments: input, _meta: { [callKey]: context.idempotencyKey } },
      {
        signal: context.signal,
        timeout: timeoutMs + 1_000, // the engine ends it; this is for the case that it does not
        onprogress: createProgress(context.report, (text) => hiding.result(text)),
        // With it the package repeats nothing by itself, and looks at no schema but the pinned one.
        toolDefinition: { name: pin.name, inputSchema: pin.inputSchema as { type: "object" } },
      },
    );
    const clean = (text: string): string => hiding.result(text);
    return { kind: "answered", result: readOutcome(answer, { maxBytes: limits.resultBytes, clean }) };
  } catch (cause) {
    return endOfCall({ cause, sent: followed.sent(), hasSession: transport.sessionId !== undefined });
  } finally {
    followed.end();
  }
}

/** Q2. */
function notRun({ call, wire, wasSent }: Trying, why: string): Error {
  const [tool, words] = [`${call.pin.name} of MCP server ${wire.server}`, wire.hiding.words(why)];
  if (!wasSent) return new ToolFailure(`${tool} was not run: ${words}`);
  return new Error(`${tool} may or may not have been run: an earlier attempt may have run, this one did not: ${words}`);
}

function lost({ pin, context }: Call, { server, hiding }: Wire, why: string): Error {
  const said = context.signal.aborted ? "it was given up, and the server was told so" : hiding.words(why);
  return new Error(`${pin.name} of MCP server ${server} may or may not have been run: ${said}`);
}
