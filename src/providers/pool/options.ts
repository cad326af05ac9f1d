/** What a pool is made of, and every problem with it at once. */
import { looksLikeAiSdk } from "../../domain/ai-sdk-model.ts";
import { isFunction, Problems } from "../../domain/problems.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Model } from "../../ports/provider.ts";
import { type BreakerOptions, defaultBreaker } from "./breaker.ts";

export interface PoolMember {
  readonly model: Model;
  /** Its share of the threads, compared with the others; 1 unless said. */
  readonly weight?: number;
  /** No thread's home: asked only when the others cannot be. */
  readonly failoverOnly?: boolean;
}

export interface PoolOptions {
  /** When a member is left alone, and for how long. */
  readonly breaker?: BreakerOptions;
  readonly clock?: Pick<Clock, "monotonic">;
}

/** Where a member stands. */
export interface Place {
  readonly key: string;
  /** 0: for failover only. */
  readonly weight: number;
  readonly model: Model;
}

export interface PoolParts {
  readonly places: readonly Place[];
  readonly breaker: Required<BreakerOptions>;
  readonly clock: Pick<Clock, "monotonic">;
}

const mostMembers = 100;
const mostWeight = 1_000_000;
const day = 24 * 60 * 60_000;
const wallClock: Pick<Clock, "monotonic"> = { monotonic: () => performance.now() };

export function readPool(members: readonly (Model | PoolMember)[], options: PoolOptions): PoolParts {
  const problems = new Problems(options, ["breaker", "clock"]);
  problems.optional("clock", (clock) => isFunction((clock as Partial<Clock> | null)?.monotonic), "must have monotonic");
  checkBreaker(options?.breaker, problems);
  const given: readonly unknown[] = Array.isArray(members) ? members : [];
  if (given.length === 0 || given.length > mostMembers) {
    problems.add(`members: must be a list of 1 to ${mostMembers} models or { model, weight, failoverOnly }`);
  }
  const checked = given.map((member, index) => readMember(member, index, problems));
  if (given.length > 0 && problems.count === 0 && checked.every(({ weight }) => weight === 0)) {
    problems.add("members: all are for failover only; at least one must be a home for threads");
  }
  problems.refuse("invalid-options", "The pool cannot be made");
  const { breaker, clock = wallClock } = options;
  return { places: withKeys(checked), breaker: { ...defaultBreaker, ...breaker }, clock };
}

function checkBreaker(breaker: unknown, problems: Problems): void {
  if (breaker === undefined) return;
  const inner = new Problems(breaker, Object.keys(defaultBreaker));
  inner.integer("failures", 1, 1_000);
  inner.integer("restMs", 1, day);
  inner.integer("probeMs", 1, day);
  problems.include("breaker", inner);
}

function readMember(member: unknown, index: number, problems: Problems): Omit<Place, "key"> {
  const isBare = isModel(member) || looksLikeAiSdk(member);
  const { model, weight = 1, failoverOnly = false } = (isBare ? { model: member } : (member ?? {})) as PoolMember;
  const inner = new Problems(isBare ? { model: member } : member, ["model", "weight", "failoverOnly"]);
  inner.check("model", isModel, `must be a model that can be called${hint(model)}`);
  const fits = (weight: unknown): boolean =>
    Number.isFinite(weight) && Number(weight) > 0 && Number(weight) <= mostWeight;
  inner.optional("weight", fits, `must be a number above 0 and up to ${mostWeight}`);
  inner.optional("failoverOnly", (value) => typeof value === "boolean", "must be true or false");
  if (failoverOnly && (member as PoolMember).weight !== undefined) {
    inner.add("weight: a member for failover only has no share; leave out one of the two");
  }
  problems.include(`members[${index}]`, inner);
  return { model, weight: failoverOnly ? 0 : weight };
}

function hint(model: unknown): string {
  return looksLikeAiSdk(model) ? "; one of the AI SDK goes in by fromAiSdk(model)" : "";
}

function isModel(value: unknown): value is Model {
  const { call, description } = (value ?? {}) as Partial<Model>;
  return isFunction(call) && typeof description?.provider === "string" && typeof description.model === "string";
}

/** One model may be there twice, behind two keys or addresses. */
function withKeys(checked: readonly Omit<Place, "key">[]): readonly Place[] {
  const seen = new Map<string, number>();
  return checked.map((place) => {
    const { provider, model } = place.model.description;
    const name = `${provider}/${model}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return { ...place, key: count === 1 ? name : `${name}#${count}` };
  });
}
