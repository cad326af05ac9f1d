/** The pieces of one run that wait for their next notification (P2–P5 of outbox.ts). Nothing here knows the time. */
import type { MessageDelta, MessagePartial, Told, ToolProgress } from "../../domain/delta.ts";
import type { RunId, Scope, ThreadId } from "../../domain/ids.ts";
import { frameOf, type Item, isText, type TextItem } from "./frames.ts";

export interface Outgoing {
  readonly scope: Scope;
  readonly run: RunId;
  readonly thread: ThreadId;
  queue: Item[];
  /** Characters of text in the queue. */
  queued: number;
  writing: Writing | undefined;
  sentAt: number;
}

/** The attempt whose pieces are followed. */
interface Writing extends Moment {
  /** By kind of text: how much of it was queued. */
  readonly ends: Map<string, number>;
  /** More is on its way than went at once. It gets there before all is begun again: who joins must not hold up others. */
  isCatchingUp: boolean;
  again: boolean;
}

type Moment = Pick<Told, "step" | "attempt">;
type Partial = MessagePartial | undefined;

const mostQueued = 1_000_000;
/** Of JSON. More does not go into one notification beside the ids; it is left out. */
const mostProgressBytes = 3_000;
const mostToolNameBytes = 600;

export function isWaiting({ queue, writing }: Outgoing): boolean {
  return queue.length > 0 || (writing?.again ?? false);
}

/** `partial` has what is written so far, this piece included. */
export function add(out: Outgoing, told: Told, partial: Partial): void {
  if (told.type === "tool-progress") return addProgress(out, told);
  const { step, attempt } = told;
  if (told.type === "message-retracted") out.queue.push({ kind: "retracted", step, attempt });
  else if (isSame(out.writing, told)) addText(out, itemOf(told));
  else if (partial && isSame(partial, told)) restart(out, partial);
}

/** P4. */
export function beginAgain(out: Outgoing, partial: MessagePartial): void {
  if (out.writing?.isCatchingUp && isSame(out.writing, partial)) out.writing.again = true;
  else restart(out, partial);
}

/** As much as goes into one notification; undefined when there is nothing to send. */
export function nextFrame(out: Outgoing, partial: Partial): string | undefined {
  if (!isSame(out.writing, partial)) {
    out.writing = undefined;
    keep(out, out.queue.filter(isOther)); // P3
  }
  if (partial && out.writing?.again && !out.queue.some(isText)) restart(out, partial);
  if (out.queue.length === 0) return undefined;
  const { text, rest } = frameOf(out, out.queue);
  keep(out, rest);
  if (out.writing) out.writing.isCatchingUp = rest.some(isText);
  return text;
}

function restart(out: Outgoing, { step, attempt, text, reasoning, inputs }: MessagePartial): void {
  keep(out, out.queue.filter(isOther));
  out.writing = { step, attempt, ends: new Map(), isCatchingUp: false, again: false };
  const stamp = { step, attempt, at: 0 };
  addText(out, { ...stamp, kind: "reasoning", text: reasoning });
  addText(out, { ...stamp, kind: "text", text });
  for (const { index, tool, text: input } of inputs)
    addText(out, { ...stamp, kind: "input", index, tool, text: input });
}

function addText(out: Outgoing, item: TextItem): void {
  if (!out.writing || item.text === "" || !isSendable(item)) return;
  const { ends } = out.writing;
  const kind = kindOf(item);
  const at = ends.get(kind) ?? 0;
  ends.set(kind, at + item.text.length);
  const last = out.queue.at(-1);
  if (last && isText(last) && kindOf(last) === kind) {
    out.queue[out.queue.length - 1] = { ...last, text: last.text + item.text };
  } else out.queue.push({ ...item, at });
  out.queued += item.text.length;
  if (out.queued > mostQueued) keep(out, out.queue.filter(isOther)); // P5
}

/** The newest of each call. */
function addProgress(out: Outgoing, { step, attempt, call, progress }: ToolProgress): void {
  if (Buffer.byteLength(JSON.stringify(progress)) > mostProgressBytes) return;
  out.queue = out.queue.filter((item) => item.kind !== "progress" || item.call !== call);
  out.queue.push({ kind: "progress", step, attempt, call, progress });
}

function keep(out: Outgoing, items: readonly Item[]): void {
  out.queue = [...items];
  out.queued = items.reduce((sum, item) => sum + (isText(item) ? item.text.length : 0), 0);
}

function isOther(item: Item): boolean {
  return !isText(item);
}

function itemOf(delta: MessageDelta): TextItem {
  const { step, attempt, text } = delta;
  const stamp = { step, attempt, at: 0, text };
  if (delta.type === "tool-input-delta") return { ...stamp, kind: "input", index: delta.index, tool: delta.tool };
  return { ...stamp, kind: delta.type === "text-delta" ? "text" : "reasoning" };
}

/** The name of a tool is what the model wrote: it may be anything. */
function isSendable(item: TextItem): boolean {
  if (item.kind !== "input") return true;
  const isNamed = typeof item.tool === "string" && Buffer.byteLength(JSON.stringify(item.tool)) <= mostToolNameBytes;
  return isNamed && Number.isSafeInteger(item.index);
}

function kindOf(item: TextItem): string {
  return item.kind === "input" ? `input ${item.index}` : item.kind;
}

function isSame(a: Moment | undefined, b: Moment | undefined): boolean {
  return a !== undefined && b !== undefined && a.step === b.step && a.attempt === b.attempt;
}
