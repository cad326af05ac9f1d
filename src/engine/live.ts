/** What is being written right now in this process: pieces for watchers, and the whole so far for those who join. */
import type { MessageDelta, MessagePartial, Told } from "../domain/delta.ts";
import type { MessageId, RunId, Scope, ThreadId } from "../domain/ids.ts";
import type { Writers } from "../ports/bus.ts";

export interface LivePlace {
  readonly scope: Scope;
  readonly run: RunId;
  readonly thread: ThreadId;
  readonly step: number;
  readonly attempt: number;
}

export type Piece =
  | { readonly type: "text-delta" | "reasoning-delta"; readonly text: string }
  | { readonly type: "tool-input-delta"; readonly index: number; readonly tool: string; readonly text: string };

/** Once it has ended, a writer that goes on is not heard. */
export interface LiveMessage {
  write(piece: Piece): void;
  /** It is whole. */
  end(): void;
  /** It will not be: whoever was shown pieces of it is told. */
  retract(): void;
}

/** Nothing is built for nobody: without listeners a piece costs an addition. */
export interface Live extends Writers {
  /** A model begins to write a message. */
  begin(place: LivePlace, message: MessageId): LiveMessage;
  /** Anything else that is only told. */
  tell(scope: Scope, told: Told): void;
}

export function createLive(): Live {
  const listeners = new Set<(scope: Scope, told: Told) => void>();
  const writing = new Map<string, { readonly scope: Scope; readonly partial: () => MessagePartial }>();

  function tell(scope: Scope, told: Told): void {
    for (const listener of listeners) listener(scope, told);
  }

  return {
    begin({ scope, ...place }, message) {
      const id = `${scope}\n${place.run}`;
      let text = "";
      let reasoning = "";
      const inputs = new Map<number, { readonly index: number; readonly tool: string; readonly text: string }>();
      const partial = (): MessagePartial => ({
        type: "message-partial",
        ...place,
        message,
        text,
        reasoning,
        inputs: [...inputs.values()],
      });
      const written = { scope, partial };
      writing.set(id, written);
      let ended = false;
      const end = (): void => {
        ended = true;
        if (writing.get(id) === written) writing.delete(id);
      };
      return {
        end,
        retract() {
          if (ended) return;
          end();
          tell(scope, { type: "message-retracted", ...place, message });
        },
        write(piece) {
          if (ended) return;
          if (piece.type === "text-delta") text += piece.text;
          if (piece.type === "reasoning-delta") reasoning += piece.text;
          if (piece.type === "tool-input-delta") {
            const { index, tool } = piece;
            inputs.set(index, { index, tool, text: (inputs.get(index)?.text ?? "") + piece.text });
          }
          if (listeners.size > 0) tell(scope, { ...place, message, ...piece } as MessageDelta);
        },
      };
    },
    tell,
    partial: (scope, run) => writing.get(`${scope}\n${run}`)?.partial(),
    partials: (scope) => [...writing.values()].filter((each) => each.scope === scope).map((each) => each.partial()),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
