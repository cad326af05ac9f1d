/**
 * A run moves to what its agent declares now.
 *
 * E1 The amendment is written before anything is done under it, once.
 * E2 What people are asked about a tool that has changed is closed and asked again; an answer that they gave and nothing
 *    has come of yet is asked for again too.
 * E3 A lost attempt of a tool that is no longer the same is nobody's guess: its outcome is unknown, unless it was pure.
 */

import { isSame } from "../domain/manifest-diff.ts";
import type { CallState } from "../domain/run-state.ts";
import { engine } from "../domain/ticket.ts";
import type { ToolSpec } from "../domain/tool.ts";
import { type Amendment, act, type Draft } from "./draft.ts";

export function amend(draft: Draft, to: Amendment): void {
  const { fingerprint: from } = draft.state.manifest;
  if (from === to.fingerprint) return; // E1
  const changed = changedTools(to);
  for (const { id, kind, call, child } of draft.state.tickets) {
    if (!call || !changed.includes(call.tool) || kind === "unknown-outcome" || child) continue;
    const decision = { kind: "closed", why: "amended" } as const;
    act(draft, { type: "ticket-decided", ticket: id, decision, by: engine, key: id }); // E2
  }
  for (const call of draft.state.step?.calls ?? []) if (changed.includes(call.tool)) closeLost(draft, call, to);
  const { fingerprint, declared } = to;
  act(draft, { type: "manifest-amended", from, fingerprint, declared, changed });
}

function changedTools({ before, declared }: Amendment): readonly string[] {
  const now = new Map(declared.tools.map((spec) => [spec.name, spec]));
  const changed = before.tools.filter((spec) => !isSame(json(spec), json(now.get(spec.name))));
  return changed.map(({ name }) => name);
}

function json(spec: ToolSpec | undefined): Parameters<typeof isSame>[0] {
  return spec as unknown as Parameters<typeof isSame>[0];
}

/** E3. The same version of the same class is the same code: its class decides, as ever. */
function closeLost(draft: Draft, { tool, effect }: CallState, { before, declared }: Amendment): void {
  if (!effect?.open || effect.child || effect.open.epoch === draft.at.epoch) return;
  const was = before.tools.find(({ name }) => name === tool);
  const is = declared.tools.find(({ name }) => name === tool);
  if (is && is.version === was?.version && is.effect === was.effect) return;
  const { attempt, startBy, timeoutMs } = effect.open;
  const why = "its worker was lost between intent and settlement, and its tool has changed since";
  const unknown = { kind: "unknown" as const, why, decidableFrom: startBy + timeoutMs };
  const result = was?.effect === "pure" ? { kind: "lost" as const } : unknown;
  act(draft, { type: "effect-settled", effect: effect.id, attempt, result });
}
