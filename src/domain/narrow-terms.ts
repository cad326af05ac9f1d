/** Terms under which a child's call is approved: at least as strict as its parent's, and as its own. */
import type { ApprovalTerms, Audience } from "./approval.ts";
import type { JsonValue } from "./json.ts";
import { isSame } from "./manifest-diff.ts";

/** `"nobody"`: there is no one who might approve for both. */
export function narrowTerms(
  parent: ApprovalTerms | undefined,
  child: ApprovalTerms | undefined,
): ApprovalTerms | undefined | "nobody" {
  if (isSame(json(parent), json(child))) return child;
  const audience = narrowAudience(parent?.audience, child?.audience);
  if (audience === "nobody") return "nobody";
  const within = [parent?.answerWithinMs, child?.answerWithinMs].filter((ms) => ms !== undefined);
  const isEscalated = isSame(json(parent?.escalate), json(child?.escalate));
  return {
    ...(audience ? { audience } : {}),
    ...(within.length > 0 ? { answerWithinMs: Math.min(...within), onExpiry: narrowExpiry(parent, child) } : {}),
    ...(child?.escalate && isEscalated ? { escalate: child.escalate } : {}), // else more could answer than one of them says
  };
}

function json(value: object | undefined): JsonValue | undefined {
  return value as JsonValue | undefined;
}

/** Silence approves only where both say so. */
function narrowExpiry(
  parent: ApprovalTerms | undefined,
  child: ApprovalTerms | undefined,
): NonNullable<ApprovalTerms["onExpiry"]> {
  const said = [parent, child].map((terms) =>
    terms?.answerWithinMs === undefined ? undefined : (terms.onExpiry ?? "reject"),
  );
  if (said.every((each) => each === "approve")) return "approve";
  return said.includes("cancel-run") ? "cancel-run" : "reject";
}

function narrowAudience(parent: Audience | undefined, child: Audience | undefined): Audience | undefined | "nobody" {
  if (!parent || !child) return child ?? parent;
  const principals = both(parent.principals, child.principals);
  const roles = both(parent.roles, child.roles);
  if (principals.length + roles.length === 0) return "nobody";
  return { ...(principals.length > 0 ? { principals } : {}), ...(roles.length > 0 ? { roles } : {}) };
}

function both(a: readonly string[] = [], b: readonly string[] = []): readonly string[] {
  return b.filter((name) => a.includes(name));
}
