/**
 * Terms of an approval: who may answer, until when, and what counts if nobody does.
 *
 * A1 Only somebody of the audience answers, and never who asks: the agent, its run, the plugin or policy.
 * A2 After `answerBy`, by store time, no answer counts any more; what was said for that case counts once, whoever is up then.
 * A3 From the escalation on, its audience may answer too.
 */
import { Problems } from "./problems.ts";

/** Anyone who is named, or has one of the roles. An empty one is nobody. */
export interface Audience {
  readonly principals?: readonly string[];
  readonly roles?: readonly string[];
}

export type OnExpiry = "reject" | "approve" | "cancel-run";

export interface ApprovalTerms {
  /** Anyone but who asks unless said. */
  readonly audience?: Audience;
  /** Milliseconds from when it is asked; as long as the run unless said. */
  readonly answerWithinMs?: number;
  /** What counts when nobody has answered by then; a rejection unless said. */
  readonly onExpiry?: OnExpiry;
  /** Others may answer too once so many milliseconds have passed. */
  readonly escalate?: { readonly afterMs: number; readonly audience: Audience };
}

/** The same on an open ticket, with times instead of spans. */
export interface TicketTerms {
  readonly audience?: Audience;
  readonly answerBy?: number;
  readonly onExpiry?: OnExpiry;
  readonly escalation?: { readonly at: number; readonly audience: Audience };
}

export function termsFrom(terms: ApprovalTerms | undefined, now: number): TicketTerms {
  if (!terms) return {};
  const { audience, answerWithinMs, onExpiry = "reject", escalate } = terms;
  return {
    ...(audience ? { audience } : {}),
    ...(answerWithinMs === undefined ? {} : { answerBy: now + answerWithinMs, onExpiry }),
    ...(escalate ? { escalation: { at: now + escalate.afterMs, audience: escalate.audience } } : {}),
  };
}

export interface Answerer {
  readonly by: string;
  readonly roles?: readonly string[];
}

/** Who asks. */
interface Asker {
  readonly agent: string;
  readonly run: string;
  readonly rootRun: string;
  readonly plugin?: string;
  readonly policy?: { readonly name: string };
}

/** A1, A3. */
export function mayAnswer(ticket: TicketTerms & Asker, who: Answerer, now: number): boolean {
  const { agent, run, rootRun, plugin, policy } = ticket;
  if ([agent, run, rootRun, plugin, policy?.name].includes(who.by)) return false;
  const { audience, escalation } = ticket;
  if (!audience || isIn(audience, who)) return true;
  return escalation !== undefined && now >= escalation.at && isIn(escalation.audience, who);
}

function isIn({ principals = [], roles = [] }: Audience, who: Answerer): boolean {
  return principals.includes(who.by) || roles.some((role) => who.roles?.includes(role) ?? false);
}

const longest = 366 * 24 * 60 * 60_000;

/** Every problem with terms as somebody wrote them. */
export function termsProblems(terms: unknown): Problems {
  const problems = new Problems(terms, ["audience", "answerWithinMs", "onExpiry", "escalate"]);
  problems.integer("answerWithinMs", 1, longest);
  problems.oneOf("onExpiry", ["reject", "approve", "cancel-run"]);
  const { audience, escalate, answerWithinMs, onExpiry } = (terms ?? {}) as ApprovalTerms;
  if (onExpiry !== undefined && answerWithinMs === undefined) problems.add("onExpiry: needs answerWithinMs");
  if (audience !== undefined) problems.include("audience", audienceProblems(audience));
  if (escalate !== undefined) {
    const inner = new Problems(escalate, ["afterMs", "audience"]);
    if (escalate?.afterMs === undefined) inner.add("afterMs: must be given");
    inner.integer("afterMs", 0, longest);
    inner.include("audience", audienceProblems(escalate?.audience));
    problems.include("escalate", inner);
    if (audience === undefined) problems.add("escalate: needs an audience to begin with");
  }
  return problems;
}

function audienceProblems(audience: unknown): Problems {
  const problems = new Problems(audience, ["principals", "roles"]);
  const isNames = (value: unknown): boolean =>
    Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");
  problems.optional("principals", isNames, "must be a list of names");
  problems.optional("roles", isNames, "must be a list of names");
  const { principals = [], roles = [] } = (audience ?? {}) as Audience;
  if (Array.isArray(principals) && Array.isArray(roles) && principals.length + roles.length === 0) {
    problems.add("principals, roles: nobody could ever answer");
  }
  return problems;
}
