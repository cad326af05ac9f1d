/**
 * Server-sent events, read from bytes as they come.
 *
 * S1 How the bytes are cut into chunks changes nothing: not inside a character, a line end or an event.
 * S2 What is kept is bounded: an event that grows beyond the limit is refused before it is whole.
 */

export interface SseEvent {
  /** Lines of `data` joined by line feeds; undefined for a comment, which servers send to show that they are alive. */
  readonly data: string | undefined;
}

export interface SseReader {
  push(bytes: Uint8Array): readonly SseEvent[];
  /** What the last lines make, also when the server left out the blank line after them. */
  end(): readonly SseEvent[];
}

/** Thrown by a reader; whoever reads says which server it was. */
export class SseTooLong extends Error {
  constructor(limit: number) {
    super(`an event of more than ${limit} characters`);
    this.name = "SseTooLong";
  }
}

export function createSseReader(maxCharacters: number): SseReader {
  const lines = createLineReader(maxCharacters);
  let data: string[] = [];
  let events: SseEvent[] = [];

  function dispatch(): void {
    if (data.length > 0) events.push({ data: data.join("\n") });
    data = [];
    lines.forget();
  }

  function take(line: string): void {
    if (line === "") dispatch();
    else if (line.startsWith(":")) {
      events.push({ data: undefined });
      if (data.length === 0) lines.forget();
    } else {
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "data") data.push(value); // event, id and retry mean nothing to a model's stream
    }
  }

  function taken(): readonly SseEvent[] {
    const ready = events;
    events = [];
    return ready;
  }

  return {
    push(bytes) {
      for (const line of lines.push(bytes)) take(line);
      return taken();
    },
    end() {
      for (const line of lines.end()) take(line);
      dispatch();
      return taken();
    },
  };
}

interface LineReader {
  push(bytes: Uint8Array): Iterable<string>;
  end(): Iterable<string>;
  /** What was read so far is not kept any more. */
  forget(): void;
}

const lineEnd = /\r\n|\r|\n/g;

function createLineReader(maxCharacters: number): LineReader {
  const decoder = new TextDecoder();
  let open: string[] = []; // pieces of the line at hand: joined once, so a long one costs what it is long
  let size = 0;
  let afterReturn = false; // the last line ended by \r: a \n at once belongs to it

  function keep(piece: string): void {
    size += piece.length;
    if (size > maxCharacters) throw new SseTooLong(maxCharacters);
    if (piece !== "") open.push(piece);
  }

  function* read(text: string): Iterable<string> {
    if (text === "") return;
    let from = afterReturn && text.startsWith("\n") ? 1 : 0;
    afterReturn = text.endsWith("\r");
    const ends = [...text.matchAll(lineEnd)].filter(({ index }) => index >= from);
    for (const { 0: end, index } of ends) {
      keep(text.slice(from, index));
      from = index + end.length;
      const line = open.join("");
      open = [];
      yield line;
    }
    keep(text.slice(from));
  }

  return {
    push: (bytes) => read(decoder.decode(bytes, { stream: true })),
    *end() {
      yield* read(decoder.decode());
      if (open.length > 0) yield open.join("");
    },
    forget() {
      size = 0;
    },
  };
}
