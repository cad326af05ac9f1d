/**
 * Overrides: what a run, or one step of it, asks of the model otherwise than its agent does.
 *
 * U1 They are merged field by field, settings name by name, and the last word counts: the agent's model, then the run, then the
 *    plugins of the step in their order.
 * U2 One thing is said in one place: whoever says it, by its field or by a provider's own name for it in settings, takes out
 *    what was said of it before by any name. Both at once are refused.
 */
import { type JsonObject, toJson } from "./json.ts";
import { readRoute } from "./model-route.ts";
import { Problems } from "./problems.ts";

export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** How much a model thinks before it answers; which of these it knows is the model's matter. */
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export interface Overrides {
  /** A route among the runtime's providers, "openai/gpt-x", or the name of a model of the agent's own provider. */
  readonly model?: string;
  readonly temperature?: number;
  /** The longest answer of one call. Where the model or the budget allows less, that counts. */
  readonly maxOutputTokens?: number;
  readonly topP?: number;
  readonly reasoningEffort?: ReasoningEffort;
  /** Everything else, by the provider's own names. */
  readonly settings?: JsonObject;
}

type FieldName = keyof Overrides;

/** What is wrong with a value, in words. */
type Check = (value: unknown) => string | undefined;

const longestName = 512;
const mostTokens = 1_000_000_000;
const hottest = 100;

function numberUpTo(most: number): Check {
  const fits = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= most;
  return (value) => (fits(value) ? undefined : `must be a number from 0 to ${most}`);
}

const isTokens = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= mostTokens;

export const overrideChecks: Readonly<Record<FieldName, Check>> = {
  model: (value) =>
    isModelName(value) ? undefined : 'must be a route such as "openai/gpt-x", or a model of the agent\'s own provider',
  temperature: numberUpTo(hottest),
  maxOutputTokens: (value) => (isTokens(value) ? undefined : `must be a whole number from 1 to ${mostTokens}`),
  topP: numberUpTo(1),
  reasoningEffort: (value) =>
    reasoningEfforts.some((each) => each === value) ? undefined : `must be one of ${reasoningEfforts.join(", ")}`,
  settings: (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be an object";
    const json = toJson(value);
    return json.ok ? undefined : `is not JSON at ${json.path}: ${json.problem}`;
  },
};

function isModelName(value: unknown): value is string {
  if (typeof value !== "string" || value === "" || value.length > longestName || !value.isWellFormed()) return false;
  return value.includes("/") ? readRoute(value) !== undefined : value === value.trim();
}

/** Every problem at once; unknown fields are refused. */
export function overrideProblems(value: unknown): Problems {
  const problems = new Problems(value, Object.keys(overrideChecks));
  const fields = (typeof value === "object" ? (value ?? {}) : {}) as Readonly<Record<string, unknown>>;
  for (const [name, check] of Object.entries(overrideChecks)) {
    const problem = fields[name] === undefined ? undefined : check(fields[name]);
    if (problem) problems.add(`${name}: ${problem}`);
  }
  const twice = saidTwice(fields);
  if (twice) problems.add(twice);
  return problems;
}

/** A copy of our own, of what has no problems; undefined when nothing is said. */
export function readOverrides(value: unknown): Overrides | undefined {
  const json = toJson(value ?? {});
  return json.ok ? spoken(json.value as Overrides) : undefined;
}

/** The names by which providers know these. What bounds an answer and which model it is are decided by each request. */
const otherNames: Readonly<Partial<Record<FieldName, readonly string[]>>> = {
  temperature: ["temperature"],
  topP: ["topP", "top_p"],
  reasoningEffort: ["reasoningEffort", "reasoning_effort", "reasoning"],
};

/** U2. */
export function saidTwice({ settings, ...fields }: Overrides): string | undefined {
  for (const [field, names] of Object.entries(otherNames)) {
    const name = fields[field as keyof typeof fields] !== undefined && names.find((each) => has(settings, each));
    if (name) return `settings.${name}: is said as ${field} already; leave out one of the two`;
  }
  return undefined;
}

/** U1. */
export function mergeOverrides(earlier: Overrides, later: Overrides): Overrides {
  const { settings: before = {}, ...fields } = earlier;
  const { settings: said = {}, ...laterFields } = later;
  const isSaid = (field: string): boolean =>
    Object.hasOwn(laterFields, field) || namesOf(field).some((name) => has(said, name));
  const gone = Object.keys(otherNames).filter(isSaid); // U2
  const left = Object.entries(fields).filter(([field]) => !gone.includes(field));
  const kept = Object.entries(before).filter(([name]) => !gone.some((field) => namesOf(field).includes(name)));
  const settings = { ...Object.fromEntries(kept), ...said };
  const whole = Object.keys(settings).length > 0 ? { settings } : {};
  return { ...Object.fromEntries(left), ...laterFields, ...whole };
}

/** Undefined when nothing is said. */
export function spoken(overrides: Overrides): Overrides | undefined {
  const said = mergeOverrides({}, overrides);
  return Object.keys(said).length > 0 ? said : undefined;
}

function namesOf(field: string): readonly string[] {
  return otherNames[field as FieldName] ?? [];
}

function has(settings: JsonObject | undefined, name: string): boolean {
  return typeof settings === "object" && settings !== null && Object.hasOwn(settings, name);
}
