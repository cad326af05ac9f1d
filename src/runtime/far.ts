/** What one watcher has of messages that are written in other processes (W5). Numbers only: the text is the watcher's. */
import type { MessageDelta, MessagePartial, MessageRetracted } from "../domain/delta.ts";
import type { RunId } from "../domain/ids.ts";
import { isAfter, isSame, type Moment } from "./shown.ts";

export interface Far {
  /** What there is to show of a piece that begins at this place: its new part, if it follows on what was shown. */
  take(piece: MessageDelta, at: number): MessageDelta | MessagePartial | undefined;
  /** No more of this attempt. */
  end(attempt: MessageRetracted): void;
  forget(run: RunId): void;
  /** The watcher has lost its place: everything begins again. */
  clear(): void;
}

/** The newest attempt of a run. */
interface Followed extends Moment {
  /** By kind of text: how much was shown. Undefined when the attempt is over. */
  readonly ends: Map<string, number> | undefined;
}

export function createFar(): Far {
  const runs = new Map<RunId, Followed>();

  function begin(piece: MessageDelta, at: number): MessagePartial | undefined {
    if (at > 0 || piece.text === "") return undefined;
    const { run, step, attempt } = piece;
    runs.set(run, { step, attempt, ends: new Map([[kindOf(piece), piece.text.length]]) });
    return partialOf(piece);
  }

  return {
    take(piece, at) {
      const known = runs.get(piece.run);
      if (!known || isAfter(known, piece)) return begin(piece, at);
      if (!known.ends || !isSame(known, piece)) return undefined;
      const kind = kindOf(piece);
      const end = known.ends.get(kind) ?? 0;
      const text = at > end ? "" : piece.text.slice(end - at);
      if (text === "") return undefined;
      known.ends.set(kind, end + text.length);
      return { ...piece, text };
    },
    end({ run, step, attempt }) {
      const known = runs.get(run);
      if (known && isSame(known, { step, attempt })) runs.set(run, { step, attempt, ends: undefined });
    },
    forget: (run) => void runs.delete(run),
    clear: () => runs.clear(),
  };
}

function kindOf(piece: MessageDelta): string {
  return piece.type === "tool-input-delta" ? `${piece.type} ${piece.index}` : piece.type;
}

/** Whoever was shown this attempt before, elsewhere or by a process that is gone, puts this in its place. */
function partialOf(piece: MessageDelta): MessagePartial {
  const { run, thread, step, attempt, message, text } = piece;
  const empty = {
    type: "message-partial",
    run,
    thread,
    step,
    attempt,
    message,
    text: "",
    reasoning: "",
    inputs: [],
  } as const;
  if (piece.type === "tool-input-delta") {
    return { ...empty, inputs: [{ index: piece.index, tool: piece.tool, text }] };
  }
  return piece.type === "text-delta" ? { ...empty, text } : { ...empty, reasoning: text };
}
