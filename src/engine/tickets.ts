/** The tickets a run opens. An answer must carry `hash`, so it can only be about exactly what was shown. */
import { type ApprovalTerms, termsFrom } from "../domain/approval.ts";
import type { OpenTicket, PolicyRef } from "../domain/command.ts";
import type { ChildIntent } from "../domain/entry.ts";
import { type CallId, type RunId, ticketId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { CallState } from "../domain/run-state.ts";
import type { TicketCall, TicketKind, TicketRecord } from "../domain/ticket.ts";
import { act, type Draft } from "./draft.ts";

interface Question {
  readonly kind: TicketKind;
  readonly subject: RunId | CallId;
  readonly generation: number;
  readonly prompt: string;
  readonly call?: TicketCall;
  readonly problem?: string | undefined;
  readonly decidableFrom?: number | undefined;
  readonly dueAt?: number;
  readonly terms?: ApprovalTerms | undefined;
  readonly name?: string;
  readonly plugin?: string;
  readonly policy?: PolicyRef | undefined;
  readonly output?: string | undefined;
  readonly child?: TicketRecord["child"];
}

/** Only its end settles it: it has no end of its own, or a child that is stopped too late could not say so. */
export function openChild(draft: Draft, call: CallState, { run, agent, background }: ChildIntent): void {
  open(draft, {
    kind: background ? "background" : "child",
    subject: call.id,
    generation: 1,
    prompt: `${agent} is at work`,
    call: ticketCall(draft, call),
    child: { run, agent },
  });
}

export function openAsk(draft: Draft, call: CallState): void {
  const { ask } = call;
  if (!ask) return;
  const question = { kind: ask.ticket, subject: call.id, generation: call.asked + 1, prompt: ask.prompt };
  const by = ask.by === undefined ? {} : { plugin: ask.by };
  open(draft, {
    ...question,
    ...by,
    call: ticketCall(draft, call),
    problem: ask.problem ?? call.reasked,
    terms: ask.terms,
    policy: ask.policy,
  });
}

export function openUnknown(draft: Draft, call: CallState): void {
  open(draft, {
    kind: "unknown-outcome",
    subject: call.id,
    generation: call.unknownTickets + 1,
    prompt: `Nobody knows whether ${call.tool} took effect: ${call.problem ?? "its attempt was lost"}`,
    call: ticketCall(draft, call),
    decidableFrom: call.decidableFrom,
  });
}

export function openPause(draft: Draft): void {
  const { created, pauses, pause } = draft.state;
  const prompt = `Paused by ${pause?.by ?? "nobody"}${pause?.reason ? `: ${pause.reason}` : ""}`;
  open(draft, { kind: "pause", subject: created.identity.run, generation: pauses + 1, prompt });
}

export function openTimer(draft: Draft, dueAt: number): void {
  const { created, timers } = draft.state;
  const prompt = `Goes on at ${new Date(dueAt).toISOString()}`;
  open(draft, { kind: "timer", subject: created.identity.run, generation: timers + 1, prompt, dueAt });
}

export function openQuarantined(draft: Draft, prompt: string): void {
  const { created, quarantines } = draft.state;
  open(draft, { kind: "quarantined", subject: created.identity.run, generation: quarantines + 1, prompt });
}

export function openMissingCapability(draft: Draft, prompt: string): void {
  const { created, missed } = draft.state;
  const { run } = created.identity;
  open(draft, { kind: "missing-capability", subject: run, generation: missed + 1, prompt });
}

type RemoteAsk = Pick<Question, "prompt" | "decidableFrom"> & { readonly kind: "input" | "auth" | "unknown-outcome" };

/** About the other side of a run that executes elsewhere. */
export function openRemoteTicket(draft: Draft, asked: RemoteAsk): void {
  const { created, remote } = draft.state;
  const subject = `${created.identity.run}.remote` as RunId;
  const opened = (asked.kind === "unknown-outcome" ? remote?.unknowns : remote?.waits) ?? 0;
  open(draft, { ...asked, subject, generation: opened + 1 });
}

type Asked = Pick<OpenTicket, "name" | "prompt" | "kind" | "terms"> &
  Pick<Question, "policy" | "output"> & { readonly plugin: string };

export function openPluginTicket(draft: Draft, { kind = "input", name, prompt, terms, ...by }: Asked): void {
  const { created, plugins } = draft.state;
  const generation = plugins.opened + 1;
  open(draft, {
    kind,
    subject: created.identity.run,
    generation,
    prompt,
    name,
    terms,
    plugin: by.plugin,
    policy: by.policy,
    output: by.output,
  });
}

export function ticketOf(draft: Draft, call: CallState): TicketRecord | undefined {
  return draft.state.tickets.find((ticket) => ticket.call?.id === call.id);
}

function ticketCall(draft: Draft, call: CallState): TicketCall {
  const spec = draft.at.spec(call.tool);
  const input = call.input.kind === "json" ? call.input.value : null;
  const { tool, id } = call;
  return { id, tool, version: spec?.version ?? "?", input, resume: spec?.resume ?? "replay" };
}

function open(draft: Draft, question: Question): void {
  const { identity, deadlineAt, delegated } = draft.state.created;
  const { kind, subject, generation, prompt, call, problem, decidableFrom, dueAt } = question;
  const { name, plugin, policy, output, child } = question;
  const id = ticketId(subject, kind, generation);
  const terms = termsFrom(question.terms, draft.at.now);
  const ends = [deadlineAt, terms.answerBy].filter((time) => time !== undefined);
  const expiresAt = ends.length > 0 && !child ? Math.min(...ends) : undefined;
  const about = output === undefined ? {} : { output };
  const shown: JsonValue = { id, kind, prompt, call: call ? { ...call } : null, ...about };
  const ticket: TicketRecord = {
    id,
    kind,
    run: identity.run,
    rootRun: identity.rootRun,
    thread: identity.thread,
    agent: draft.state.manifest.agent ?? identity.agent,
    ...(delegated ? { path: delegated.path } : {}),
    ...(child ? { child } : {}),
    generation,
    hash: draft.at.hash.sha256(draft.at.hash.canonical(shown)),
    prompt,
    ...(call ? { call } : {}),
    ...(name === undefined ? {} : { name }),
    ...(plugin === undefined ? {} : { plugin }),
    ...(policy ? { policy } : {}),
    ...about,
    ...(problem === undefined ? {} : { problem }),
    ...terms,
    openedAt: draft.at.now,
    ...(decidableFrom === undefined ? {} : { decidableFrom }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(dueAt === undefined ? {} : { dueAt }),
  };
  act(draft, { type: "ticket-opened", ticket });
}
