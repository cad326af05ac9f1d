/**
 * The agent card: what the other side says about itself. It is read before anything is sent, and what it says is held
 * against what we can do and where we may go; a card that cannot be true, or that we could not follow, is refused.
 */
import type { AgentCard, AgentInterface, SecurityRequirement } from "@a2a-js/sdk";
import { DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import { backendError } from "../../domain/backend/backend-error.ts";
import type { HoldfastError } from "../../domain/errors.ts";
import { shortened } from "../../domain/json.ts";
import { isListed } from "../../platform/safe-fetch/judge.ts";
import { readRules } from "../../platform/safe-fetch/rules.ts";
import type { A2aSettings } from "./options.ts";

const bindings = ["JSONRPC", "HTTP+JSON"];

/** Throws `backend-remote-error`: nothing was sent, and nothing will be. */
export function checkCard(given: unknown, settings: A2aSettings): AgentCard {
  const card = read(given, settings);
  const problems: string[] = [];
  if (typeof card.name !== "string" || card.name === "") problems.push("it names no agent");
  const chosen = choose(card, problems);
  if (chosen !== undefined) problems.push(...placeProblems(chosen, settings));
  const required = (card.capabilities?.extensions ?? []).filter((extension) => extension?.required);
  for (const { uri } of required) problems.push(`it requires the extension ${uri}, which we do not have`);
  problems.push(...demandProblems(card, settings));
  if (problems.length > 0 || chosen === undefined) throw refused(settings, problems);
  return { ...card, supportedInterfaces: [chosen] };
}

/** Cards of 0.3 are put into the shape of 1.0 by the protocol package. */
function read(given: unknown, settings: A2aSettings): AgentCard {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw refused(settings, ["it is no JSON object"]);
  }
  try {
    const card = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).normalizeAgentCard(given);
    if (Array.isArray(card?.supportedInterfaces)) return card;
  } catch (cause) {
    throw refused(settings, ["it does not have the shape of a card"], cause);
  }
  throw refused(settings, ["it does not have the shape of a card: there is no list of interfaces"]);
}

function choose(card: AgentCard, problems: string[]): AgentInterface | undefined {
  const interfaces = card.supportedInterfaces.filter((each) => typeof each === "object" && each !== null);
  const usable = interfaces.filter(({ protocolBinding }) => bindings.includes(`${protocolBinding}`.toUpperCase()));
  const found =
    usable.find(({ protocolVersion }) => isVersion(protocolVersion, "1.")) ??
    usable.find(({ protocolVersion }) => isVersion(protocolVersion, "0.3"));
  if (found !== undefined) return found;
  const offered = interfaces.map(({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`);
  problems.push(
    `it offers ${offered.join(", ") || "no interface"}; we speak ${bindings.join(" and ")}, version 1.0 or 0.3`,
  );
  return;
}

function isVersion(version: unknown, wanted: string): boolean {
  return typeof version === "string" && (version === wanted.replace(/\.$/, "") || version.startsWith(wanted));
}

/** Before the first request goes there; the fetch judges it again, with its address. */
function placeProblems({ url }: AgentInterface, { rules, card }: A2aSettings): readonly string[] {
  if (typeof url !== "string" || !URL.canParse(url)) return [`its interface is at ${JSON.stringify(url)}`];
  const place = new URL(url);
  if (place.protocol !== "https:" && place.protocol !== card.protocol) return [`its interface is at ${url}`];
  if (isListed(place, readRules(rules))) return [];
  return [`its interface is at ${place.host}, not at ${card.host}; list the host in options.hosts if you trust it`];
}

/** A card's demands are alternatives, each of schemes that must all be met. We can meet one scheme at a time. */
function demandProblems(card: AgentCard, settings: A2aSettings): readonly string[] {
  const demands = (card.securityRequirements ?? []).map(schemesOf);
  if (demands.length === 0 || demands.some((names) => names.every((name) => isMet(card, name, settings)))) return [];
  const shown = demands.map((names) => names.join(" and ")).join(", or ");
  return [`it demands ${shown}; the endpoint has ${settings.authType ?? "no auth"}`];
}

function schemesOf(requirement: SecurityRequirement): readonly string[] {
  return Object.keys(requirement?.schemes ?? {});
}

function isMet(card: AgentCard, name: string, { auth, authType }: A2aSettings): boolean {
  const scheme = card.securitySchemes?.[name]?.scheme;
  switch (scheme?.$case) {
    case "httpAuthSecurityScheme":
      return authType === "bearer" && scheme.value.scheme.toLowerCase() === "bearer";
    case "oauth2SecurityScheme":
    case "openIdConnectSecurityScheme":
      return authType === "bearer";
    case "apiKeySecurityScheme": {
      const { location, name: header } = scheme.value;
      return location === "header" && Object.keys(auth).some((each) => each.toLowerCase() === header.toLowerCase());
    }
    default:
      return false;
  }
}

function refused({ card, hide }: A2aSettings, problems: readonly string[], cause?: unknown): HoldfastError {
  const why = shortened(hide(problems.join("; ")));
  return backendError("backend-remote-error", `the agent card at ${card.origin}${card.pathname} is refused: ${why}`, {
    cause,
  });
}
