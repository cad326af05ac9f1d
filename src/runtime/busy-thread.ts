/**
 * A start that meets a run which is not done. Whether the birth may be written is decided in its own transaction
 * (BusyRule); what is given to the run that is there goes through the outside door with the start's key, so that a
 * repeated start finds it again.
 */
import { HoldfastError } from "../domain/errors.ts";
import { describeFile, isFile } from "../domain/file-part.ts";
import type { InputId, RunId } from "../domain/ids.ts";
import { type Message, textOf } from "../domain/message.ts";
import type { TicketRecord } from "../domain/ticket.ts";
import type { Birth, BusyRule } from "../ports/birth.ts";
import type { BusyRun, Post } from "../ports/store.ts";
import { anyone } from "./act-options.ts";
import type { Desk } from "./desk.ts";
import { post, tell } from "./outside-door.ts";
import { keyConflict } from "./refusals.ts";
import type { StartOptions } from "./runtime.ts";
import { onlyMessage } from "./sent-input.ts";

type Choice = StartOptions["whenBusy"];

export interface BusyStart {
  readonly birth: Birth;
  readonly active: BusyRun;
  readonly choice: Choice;
}

export function busyRule(choice: Choice): BusyRule {
  switch (choice) {
    case undefined:
      return "queue-unless-waiting";
    case "steer":
      return "reject"; // nothing is born: the message goes to the run that is there
    default:
      return choice;
  }
}

/** The run that was asked to end has a fact it was not told of: without this it learns it with its next renewal. */
export async function tellReplaced({ entry, whenBusy }: Birth, desk: Desk): Promise<void> {
  if (whenBusy !== "interrupt" && whenBusy !== "supersede") return;
  const { scope } = desk;
  try {
    const thread = await desk.store.thread({ scope, thread: entry.identity.thread });
    const active = thread?.current && (await desk.store.run({ scope, run: thread.current.run }));
    if (active) tell({ scope, run: active.run, seq: active.head }, desk);
  } catch (cause) {
    desk.logger.warn(`The run before ${entry.identity.run} was not told that it is replaced`, { cause: String(cause) });
  }
}

/**
 * Behind this run nobody waits for a person. It waits on nobody any more: its last ticket is decided, and it counts as
 * running. Or it has refused the message as one that is `ending` and is still there: it was asked to cancel.
 */
export function makesWay({ active, choice }: BusyStart, ending: RunId | undefined): boolean {
  if (active.run === ending) return true;
  return choice === undefined && active.status === "waiting" && active.tickets.length === 0;
}

/**
 * Who took the message; else the start has to be tried again, because the run takes no more messages (it has ended, or
 * is on its way to that) or someone else was faster.
 */
export type Joined = { readonly kind: "joined"; readonly run: RunId } | { readonly kind: "ending" | "answered" };

export async function joinActive(start: BusyStart, desk: Desk): Promise<Joined> {
  const { active, choice } = start;
  const question = active.tickets.find((ticket) => ticket.kind === "input");
  const isJoining = choice === "steer" || (choice === undefined && question);
  if (isJoining && start.birth.entry.request.overrides) throw ownWay(start);
  if (choice === "steer") return give(start, inputPost(start, desk), desk);
  if (choice === undefined && question) return give(start, answerPost(start, question, desk), desk);
  throw busy(start);
}

async function give(start: BusyStart, what: Post, desk: Desk): Promise<Joined> {
  const answer = await post(what, desk);
  if (answer.kind === "posted") return { kind: "joined", run: start.active.run };
  if (answer.kind === "started") {
    if (answer.same) return { kind: "joined", run: answer.run };
    throw keyConflict(start.birth.key, answer.run);
  }
  if (answer.kind === "settled") return { kind: "answered" };
  if (answer.kind === "refused" && answer.code === "run-ended") return { kind: "ending" };
  const code = answer.kind === "refused" ? answer.code : "thread-busy";
  throw new HoldfastError(code, `Run ${start.active.run} did not take the message`, {
    details: { run: start.active.run },
  });
}

function startOf({ birth }: BusyStart): NonNullable<Post["start"]> {
  return { key: birth.key, requestHash: birth.requestHash };
}

function inputPost(start: BusyStart, desk: Desk): Post {
  const { birth, active } = start;
  const message = onlyMessage(birth.entry.input, active.run);
  const by = birth.by ?? anyone;
  const fact = { type: "input-received", input: message.id as string as InputId, message, by } as const;
  return { scope: desk.scope, run: active.run, key: `start:${birth.key}`, fact, start: startOf(start) };
}

function answerPost(start: BusyStart, ticket: TicketRecord, desk: Desk): Post {
  const { birth, active } = start;
  const key = `start:${birth.key}`;
  const decision = { kind: "answer", value: said(birth.entry.input) } as const;
  const fact = { type: "ticket-decided", ticket: ticket.id, decision, by: birth.by ?? anyone, key } as const;
  return { scope: desk.scope, run: active.run, key, fact, hash: ticket.hash, start: startOf(start) };
}

/** Files would be lost in silence: an answer is words. */
function said(messages: readonly Message[]): string {
  const file = messages.flatMap(({ parts }) => parts).find(isFile);
  if (file) {
    const what = `The run there waits for an answer in words, and this message has ${describeFile(file)}`;
    throw new HoldfastError("invalid-input", `${what}; answer it first, or start with whenBusy`);
  }
  const text = messages.map(textOf).join("\n");
  if (text !== "") return text;
  throw new HoldfastError("invalid-input", "The run there waits for an answer in words, and this message has none");
}

/** L9: what is said for a run of its own would be heard by nobody. */
function ownWay({ active, birth }: BusyStart): HoldfastError {
  const what = `Thread ${birth.entry.identity.thread} has run ${active.run}, which is asked as it was started`;
  const next = 'leave out overrides to give it the message, or start behind it with whenBusy: "queue"';
  return new HoldfastError("thread-busy", `${what}; ${next}`, { details: { run: active.run, status: active.status } });
}

function busy({ active, birth }: BusyStart): HoldfastError {
  const { thread } = birth.entry.identity;
  const tickets = active.tickets.map((ticket) => ticket.id);
  const waits = tickets.length > 0 ? ` on ${tickets.join(", ")}` : "";
  return new HoldfastError("thread-busy", `Thread ${thread} has run ${active.run}, which is ${active.status}${waits}`, {
    details: { run: active.run, status: active.status, tickets },
  });
}
