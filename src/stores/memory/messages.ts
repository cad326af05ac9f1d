/** Messages of a thread: those of its runs by start position, in the order they were appended (H1). */
import type { Entry, MessageAppended, MessageBody } from "../../domain/entry.ts";
import type { Message } from "../../domain/message.ts";
import type { ReadThread } from "../../ports/store.ts";
import type { MessageList, PlacedMessage } from "../../ports/thread-store.ts";
import { messageFrom, sourceSeq } from "../shared/message-source.ts";
import type { MemoryCommit, MemoryRun, MemoryThread, ScopeData } from "./data.ts";

type Order = MessageList["order"];

interface Appended {
  readonly run: MemoryRun;
  readonly position: number;
  readonly body: MessageBody;
}

export function readThread(scope: ScopeData, request: ReadThread): readonly Message[] {
  const newestFirst: Message[] = [];
  for (const { run, body } of walk(scope.threads.get(request.thread), { order: "newest" })) {
    if (newestFirst.length >= request.limit) break;
    newestFirst.push(bodyOf(run, body));
  }
  return newestFirst.reverse();
}

export function messages(scope: ScopeData, list: MessageList): readonly PlacedMessage[] {
  const found: PlacedMessage[] = [];
  for (const { run, position, body } of walk(scope.threads.get(list.thread), list)) {
    if (found.length >= list.limit) break;
    const message = bodyOf(run, body);
    const isShown = list.visibility === undefined || message.visibility === list.visibility;
    if (isShown) found.push({ position, run: run.id, message });
  }
  return found;
}

type Place = Pick<MessageList, "order" | "after">;

function* walk(thread: MemoryThread | undefined, place: Place): Generator<Appended> {
  for (const run of inOrder(thread?.started ?? [], place.order)) {
    for (const commit of inOrder(run.commits, place.order)) yield* appendedBy(run, commit, place);
  }
}

/** A commit that lies wholly before the place is passed over unread. */
function* appendedBy(run: MemoryRun, { entries, before }: MemoryCommit, place: Place): Generator<Appended> {
  if (before === undefined || !(isAfter(before + 1, place) || isAfter(before + entries.length, place))) return;
  const appended = entries.filter((entry): entry is Entry & MessageAppended => entry.type === "message-appended");
  const placed = appended.map(({ body }, index) => ({ run, position: before + index + 1, body }));
  for (const each of inOrder(placed, place.order)) if (isAfter(each.position, place)) yield each;
}

function isAfter(position: number, { order, after }: Place): boolean {
  if (after === undefined) return true;
  return order === "oldest" ? position > after : position < after;
}

/** Without a copy: a window over a long journal must not cost its length. */
function* inOrder<T>(items: readonly T[], order: Order): Generator<T> {
  for (let index = 0; index < items.length; index += 1) {
    const item = items[order === "oldest" ? index : items.length - 1 - index];
    if (item !== undefined) yield item;
  }
}

function bodyOf(run: MemoryRun, body: MessageBody): Message {
  return body.kind === "here" ? body.message : messageFrom(entryAt(run, sourceSeq(body)), body);
}

function entryAt(run: MemoryRun, seq: number): Entry | undefined {
  const commit = run.commits.findLast((each) => (each.entries[0]?.seq ?? 0) <= seq);
  return commit?.entries.find((entry) => entry.seq === seq);
}
