/** Where words come from, with a canary for each, and how they are looked for. */
import { inspect } from "node:util";

/** Everything that somebody's words or values can come in by. */
export const sources = [
  "user", // the message that starts a run
  "file", // that comes with it: its name and its bytes
  "sent", // one that is sent later
  "context",
  "model",
  "reasoning",
  "input", // of a tool
  "result",
  "large", // a result that is kept as content, in what the model reads of it
  "deep", // and in what it does not
  "progress",
  "failure", // what a ToolFailure says
  "thrown", // what any other error of a tool says
  "cause", // what caused it
  "stack",
  "header", // of requests that tools, providers and sinks make
  "fault", // what a provider answers
  "config", // of a plugin
  "state",
  "added", // to the context, by a plugin
  "policy", // why it denies
  "prompt", // what it asks
  "answer",
  "edit",
  "reason", // of a rejection or a cancel
  "decision", // on a call whose outcome nobody knows
  "schema", // what a schema says of a value that it refuses
  "sink", // what a sink throws
  "output",
  "secret",
] as const;
export type Source = (typeof sources)[number];

/** What an outsider could read. */
export const places = ["logs", "traces", "errors", "metrics", "sinks", "events"] as const;
export type Place = (typeof places)[number];

/** Where each canary shows when nobody hides anything: every cell of the matrix, there and not there. */
export const inTheOpen: Readonly<Record<Source, readonly Place[]>> = {
  user: ["traces", "events"],
  file: ["events"],
  sent: ["traces", "events"],
  context: ["logs"], // by a tool that logs it
  model: ["traces", "events"],
  reasoning: ["traces", "events"],
  input: ["logs", "traces", "events"],
  result: ["traces", "events"],
  large: ["traces", "events"],
  deep: [],
  progress: ["events"],
  failure: ["traces", "events"],
  thrown: ["logs", "traces", "errors", "events"],
  cause: ["errors"], // of a schema that throws; what causes an error in a run is written nowhere
  stack: [], // nowhere, as those who write logs like to have it
  header: ["logs", "traces", "errors", "events"],
  fault: ["traces", "errors", "events"],
  config: ["logs", "traces", "errors", "events"],
  state: ["events"],
  added: ["events"],
  policy: ["traces", "errors", "events"],
  prompt: ["events"],
  answer: ["traces", "events"],
  edit: ["traces", "events"],
  reason: ["traces", "errors", "events"],
  decision: ["traces", "events"],
  schema: ["errors"],
  sink: [], // evidence only
  output: ["traces", "sinks", "events"],
  secret: ["logs", "traces", "errors", "events"],
};

export function canary(source: Source): string {
  return `canary-${source}-7q`;
}

export function foundIn(text: string): readonly Source[] {
  return sources.filter((source) => text.includes(canary(source)));
}

/** As a log line, a file or a debugger would have it: errors with their stacks and causes. */
export function written(value: unknown): string {
  return `${JSON.stringify(value)} ${inspect(value, { depth: 30, maxArrayLength: null, maxStringLength: null })}`;
}
