/**
 * Negotiation: what is asked of a backend against what it can do, before anything happens.
 *
 * G1 Every gap is named, in one order: what refuses first, then what may be adapted. The names are part of the error's text
 *    and of the journal.
 * G2 Only two things are ever adapted, and only where the caller allows it: earlier messages become part of one text, and
 *    artifacts are dropped. A wait is never made up.
 */
import type { HoldfastError } from "../errors.ts";
import { backendError } from "./backend-error.ts";
import type { Capabilities, PersistenceCapability } from "./capabilities.ts";

export type Adaptation = "transcript" | "artifacts";
export const adaptations: readonly Adaptation[] = ["transcript", "artifacts"];

export type Feature =
  | "decisions"
  | "overrides"
  | "frontend_tools"
  | "continuation"
  | "delegate_persistence"
  | Adaptation;

/** What is not said is not asked for. */
interface Asked {
  /** Messages of before this turn are to be read, and the other side has not seen them. */
  readonly history?: boolean;
  readonly artifacts?: boolean;
  readonly allow?: readonly Adaptation[];
}

export interface RootRequirement extends Asked {
  readonly for: "root";
  /** Answers to its calls come with the request, or may come while it runs. */
  readonly decisions?: boolean;
  readonly overrides?: boolean;
  /** Names of tools that have no code here. */
  readonly frontendTools?: readonly string[];
  readonly continuation?: boolean;
}

/** How a delegate is to be kept, and whether it goes on after a wait or a crash. */
export interface DelegatePolicy {
  readonly persistence: PersistenceCapability;
  readonly continuation: "disabled" | "resumable";
}

export const durableDelegate: DelegatePolicy = { persistence: "durable", continuation: "resumable" };
/** As in the seeds: nothing of it outlives its parent's process. */
export const ephemeralDelegate: DelegatePolicy = { persistence: "ephemeral", continuation: "disabled" };

export interface DelegateRequirement extends Asked {
  readonly for: "delegate";
  readonly policy: DelegatePolicy;
}

export type Requirement = RootRequirement | DelegateRequirement;

export type Negotiated =
  | { readonly kind: "matched" }
  | { readonly kind: "adapted"; readonly gaps: readonly Adaptation[] }
  | { readonly kind: "refused"; readonly gaps: readonly Feature[] };

export function negotiate(requirement: Requirement, capabilities: Capabilities): Negotiated {
  const unsupported =
    requirement.for === "root" ? rootGaps(requirement, capabilities) : delegateGaps(requirement, capabilities);
  const adaptable = adaptableGaps(requirement, capabilities);
  const refused = [...unsupported, ...adaptable.filter((gap) => !requirement.allow?.includes(gap))];
  if (refused.length > 0) return { kind: "refused", gaps: refused };
  return adaptable.length > 0 ? { kind: "adapted", gaps: adaptable } : { kind: "matched" };
}

function rootGaps(asked: RootRequirement, can: Capabilities): readonly Feature[] {
  const gaps: Partial<Record<Feature, boolean | undefined>> = {
    decisions: asked.decisions && !can.decisions,
    overrides: asked.overrides && !can.overrides,
    frontend_tools: (asked.frontendTools?.length ?? 0) > 0 && !can.frontendTools,
    continuation: asked.continuation && can.continuation === "none",
  };
  return named(gaps);
}

function delegateGaps({ policy }: DelegateRequirement, can: Capabilities): readonly Feature[] {
  return named({
    delegate_persistence: policy.persistence === "durable" && can.persistence === "ephemeral",
    continuation: policy.continuation !== "disabled" && can.continuation === "none",
  });
}

/** G2. */
function adaptableGaps({ history, artifacts }: Asked, can: Capabilities): readonly Adaptation[] {
  return named({
    transcript: history && can.transcript === "single-prompt",
    artifacts: artifacts && can.output === "text",
  });
}

/** G1: in the order in which they are written down. */
function named<Name extends Feature>(gaps: Partial<Record<Name, boolean | undefined>>): readonly Name[] {
  return (Object.keys(gaps) as Name[]).filter((name) => gaps[name] === true);
}

/** undefined when it may go on. */
export function refusalOf(agent: string, negotiated: Negotiated): HoldfastError | undefined {
  if (negotiated.kind !== "refused") return undefined;
  const text = `agent '${agent}' backend does not support: ${negotiated.gaps.join(", ")}`;
  return backendError("backend-execution-failed", text);
}
