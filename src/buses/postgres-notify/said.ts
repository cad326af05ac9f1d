/** What others said. Anybody who may use the database can say anything: what is not ours or not readable is not heard. */
import type { Told } from "../../domain/delta.ts";
import { type CallId, idProblem, type RunId, replyId, type Scope, type ThreadId } from "../../domain/ids.ts";
import { toJson } from "../../domain/json.ts";
import type { FarPiece, Hint } from "../../ports/bus.ts";
import type { Ask } from "./payloads.ts";

export type Said =
  | { readonly kind: "hints"; readonly hints: readonly Hint[] }
  | { readonly kind: "pieces"; readonly pieces: readonly FarPiece[] }
  | { readonly kind: "asks"; readonly from: string; readonly asks: readonly Ask[] }
  | { readonly kind: "hello" };

const mostTokenLength = 64;

/** Undefined: from ourselves, or nothing that we know. */
export function saidIn(payload: string, origin: string): Said | undefined {
  const said = parsed(payload);
  if (Array.isArray(said)) {
    const [from, ...parts] = said as readonly unknown[];
    return from === origin ? undefined : { kind: "hints", hints: parts.flatMap(hintOf) };
  }
  if (typeof said !== "object" || said === null) return undefined;
  const { from, told, asks, hello } = said as Readonly<Record<string, unknown>>;
  if (typeof from !== "string" || from === origin) return undefined;
  if (Array.isArray(told)) return { kind: "pieces", pieces: told.flatMap(piecesOf) };
  if (Array.isArray(asks)) return { kind: "asks", from, asks: asks.flatMap(askOf) };
  return hello === true ? { kind: "hello" } : undefined;
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}

function hintOf(part: unknown): readonly Hint[] {
  const [scope, run, seq] = listOf(part);
  const isHint = typeof scope === "string" && typeof run === "string" && typeof seq === "number";
  return isHint ? [{ scope: scope as Scope, run: run as RunId, seq }] : [];
}

function askOf(part: unknown): readonly Ask[] {
  const [scope, run, token] = listOf(part);
  const fits = isId(scope) && (run === null || isId(run)) && typeof token === "string";
  if (!fits || token.length > mostTokenLength) return [];
  return [{ scope: scope as Scope, ...(run === null ? {} : { run: run as RunId }), token }];
}

function piecesOf(frame: unknown): readonly FarPiece[] {
  const [scope, run, thread, parts] = listOf(frame);
  if (!isId(scope) || !isId(run) || !isId(thread)) return [];
  const subject = { run: run as RunId, thread: thread as ThreadId };
  return listOf(parts).flatMap((part) => {
    const [kind, step, attempt, ...rest] = listOf(part);
    if (!isCount(step, 1) || !isCount(attempt, 1)) return [];
    const piece = pieceOf({ ...subject, step, attempt }, kind, rest);
    return piece ? [{ scope: scope as Scope, ...piece }] : [];
  });
}

type Stamp = Pick<Told, "run" | "thread" | "step" | "attempt">;

function pieceOf(stamp: Stamp, kind: unknown, rest: readonly unknown[]): Omit<FarPiece, "scope"> | undefined {
  const message = replyId(stamp.run, stamp.step);
  if (kind === "retracted") return { told: { type: "message-retracted", ...stamp, message }, at: 0 };
  if (kind === "progress") {
    const [call, progress] = rest;
    const json = toJson(progress);
    if (!isId(call) || !json.ok) return undefined;
    return { told: { type: "tool-progress", ...stamp, call: call as CallId, progress: json.value }, at: 0 };
  }
  const [at, text, index, tool] = rest;
  if (!isCount(at, 0) || typeof text !== "string") return undefined;
  if (kind === "text") return { told: { type: "text-delta", ...stamp, message, text }, at };
  if (kind === "reasoning") return { told: { type: "reasoning-delta", ...stamp, message, text }, at };
  if (kind !== "input" || !isCount(index, 0) || typeof tool !== "string") return undefined;
  return { told: { type: "tool-input-delta", ...stamp, message, index, tool, text }, at };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isId(value: unknown): boolean {
  return idProblem(value) === undefined;
}

function isCount(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= least;
}
