/** What a cut stream has said, read naively from its bytes: events between blank lines, nothing else. */

export interface Told {
  readonly text: string;
  /** Calls that were finished on the wire. */
  readonly calls: number;
  /** An event that nobody can read came before the server had said that it is done. */
  readonly isMalformed: boolean;
}

export interface Said {
  readonly text?: string;
  /** So many calls are finished now. */
  readonly calls?: number;
  readonly isDone?: boolean;
  readonly isError?: boolean;
}

export interface Reading {
  /** What a vendor says by the data of one event. */
  readonly read: (data: unknown) => Said;
  /** The last event counts also without the blank line after it, and one without data is none. */
  readonly isLenient: boolean;
}

export function toldBy(bytes: Uint8Array, hasEnded: boolean, { read, isLenient }: Reading): Told {
  const blocks = new TextDecoder().decode(bytes).split("\n\n");
  const last = dataOf(blocks.pop() ?? "");
  const events = blocks.map(dataOf);
  if (hasEnded && isLenient && parsed(last) !== undefined) events.push(last);
  let text = "";
  let calls = 0;
  for (const event of events) {
    if (event === undefined || (isLenient && event === "")) continue;
    const value = parsed(event);
    if (value === undefined) return { text, calls, isMalformed: event !== "[DONE]" };
    const told = read(value);
    if (told.isError) break;
    text += told.text ?? "";
    calls = Math.max(calls, told.calls ?? 0);
    if (told.isDone) break;
  }
  return { text: text.replace(/[\uD800-\uDBFF]$/, ""), calls, isMalformed: false };
}

function dataOf(block: string): string | undefined {
  const lines = block.split("\n").filter((line) => /^data(:|$)/.test(line));
  return lines.length === 0 ? undefined : lines.map((line) => line.slice("data:".length).trim()).join("\n");
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
