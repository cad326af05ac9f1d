/** A candidate for the output: what a reply offers as the final answer, and what comes of checking it. */
import { answerIn, answerTool, wrapper } from "./answer-tool.ts";
import { carries, type JsonValue, messageOf, shortened, toJson } from "./json.ts";
import { callsOf, type Message, textOf } from "./message.ts";
import type { OutputReport, OutputSpec } from "./output.ts";
import { isFunction } from "./problems.ts";
import type { StepState } from "./run-state.ts";
import { type StandardSchema, showIssues, showPlaces } from "./standard-schema.ts";

export type Candidate =
  | { readonly kind: "value"; readonly value: JsonValue }
  /** Nothing that could be checked. */
  | { readonly kind: "none"; readonly problem: string };

/** Whether a call is an answer, and so no effect. Without the tool mode the name is that of no tool, like any other. */
export function isAnswer({ tool }: { readonly tool: string }, output: OutputSpec | undefined): boolean {
  return output?.mode === "tool" && tool === answerTool;
}

/** Whether a reply is the model's last word: it asks for nothing but to be taken as the answer. */
export function isFinal(reply: Message, output: OutputSpec | undefined): boolean {
  return callsOf(reply).every((call) => isAnswer(call, output));
}

/** An answer that waits for the output gate, as those who judge it see it; with the text that another has put in its place. */
export function answerView(
  { pending, report }: Pick<StepState, "pending" | "report"> = {},
  changed?: string,
): { readonly text: string; readonly value?: JsonValue; readonly message?: Message } {
  if (!pending) return { text: "" };
  const { message } = pending;
  const value = report?.valid ? { value: changed === undefined ? report.value : JSON.parse(changed) } : {};
  if (changed !== undefined) {
    return { text: changed, ...value, message: { ...message, parts: [{ type: "text", text: changed }] } };
  }
  const called = report?.valid && callsOf(message).length > 0 ? [JSON.stringify(report.value)] : [];
  return { text: [textOf(message), ...called].filter((text) => text !== "").join("\n"), ...value, message };
}

/** An answer is given in one way only: by the answer tool in tool mode, else as text. */
export function candidateIn(reply: Message | undefined, output: OutputSpec): Candidate {
  if (!reply) return none("There is no answer");
  return output.mode === "tool" ? calledIn(reply, output) : textIn(textOf(reply));
}

function none(problem: string): Candidate {
  return { kind: "none", problem };
}

function calledIn(reply: Message, output: OutputSpec): Candidate {
  const [call, ...more] = callsOf(reply).filter((each) => isAnswer(each, output));
  if (!call) return none(`It was given as text and not by calling ${answerTool}`);
  if (more.length > 0) return none(`It was given ${more.length + 1} times; one answer is wanted`);
  if (call.input.kind === "text") return none(`It is not JSON: ${unquoted(call.input.problem)}`);
  // A copy: a schema that changes what it checks does not change what the model has said.
  const value = answerIn(output.schema, JSON.parse(JSON.stringify(call.input.value)));
  return value === undefined
    ? none(`It must be an object with "${wrapper}" and nothing else`)
    : { kind: "value", value };
}

/** The engine's words may quote the text itself; who reads the problem need not be who may read the answer. */
function unquoted(problem: string): string {
  return problem.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, "");
}

const fence = /^```[a-zA-Z]*\n([\s\S]*)\n```$/;

/** JSON, or JSON in one code fence, as models like to write it. */
function textIn(text: string): Candidate {
  const trimmed = text.trim();
  try {
    return { kind: "value", value: JSON.parse(fence.exec(trimmed)?.[1] ?? trimmed) };
  } catch (cause) {
    return none(`It is not JSON: ${unquoted(messageOf(cause))}`);
  }
}

export interface Checking {
  readonly schema: StandardSchema;
  readonly spec: OutputSpec;
  /** Nobody may read it yet, and perhaps never: its problems are told without a word of it. */
  readonly isHeldBack: boolean;
}

/** What the candidate comes to. A schema that throws has refused it. */
export function checkCandidate(by: Checking, candidate: Candidate): OutputReport | Promise<OutputReport> {
  if (candidate.kind === "none") return { valid: false, problems: [candidate.problem] };
  const read = (result: Result): OutputReport => report(result, by);
  const broke = (cause: unknown): OutputReport => threw(by.isHeldBack ? "no word of that is shown" : messageOf(cause));
  try {
    const result = by.schema["~standard"].validate(candidate.value);
    return isPromise(result) ? Promise.resolve(result).then(read).catch(broke) : read(result);
  } catch (cause) {
    return broke(cause);
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return isFunction((value as { then?: unknown } | null)?.then);
}

type Result = Awaited<ReturnType<StandardSchema["~standard"]["validate"]>>;

function report(result: Result, { spec, isHeldBack }: Checking): OutputReport {
  if (result.issues) {
    const { issues } = result;
    const problem = isHeldBack ? `look at ${showPlaces(issues, namesIn(spec.schema))}` : showIssues(issues);
    return { valid: false, problems: [shortened(problem)] };
  }
  if (!carries(result, "value")) throw new TypeError("The schema gave neither a value nor issues");
  const json = toJson(result.value);
  if (json.ok && isKept(result.value)) return { valid: true, value: json.value };
  if (json.ok) return { valid: false, problems: ["What the schema makes of it has a Date or the like, not JSON"] };
  const where = isHeldBack ? "" : ` at ${json.path}: ${json.problem}`;
  return { valid: false, problems: [`What the schema makes of it is not JSON${where}`] };
}

/** Names of fields that a JSON Schema itself says. */
function namesIn(schema: JsonValue | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (part: JsonValue | undefined): void => {
    if (typeof part !== "object" || part === null) return;
    const { properties } = part as { readonly properties?: JsonValue };
    if (typeof properties === "object" && properties !== null)
      for (const name of Object.keys(properties)) names.add(name);
    for (const inner of Object.values(part)) collect(inner);
  };
  collect(schema);
  return names;
}

/** False of what writes itself as something else: `result()` would give a text where its type says Date. */
function isKept(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return !("toJSON" in value) && Object.values(value).every(isKept);
}

function threw(words: string): OutputReport {
  return { valid: false, problems: [`Checking it threw: ${words}`] };
}
