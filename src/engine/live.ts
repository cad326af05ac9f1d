/** What is being written right now in this process: pieces for watchers, and the whole so far for those who join. */
import type { Delta, MessageDelta, MessagePartial } from "../domain/delta.ts";
import type { MessageId, RunId, Scope, ThreadId } from "../domain/ids.ts";

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

export interface LiveMessage {
  write(piece: Piece): void;
  end(): void;
}

export interface Live {
  /** A model begins to write a message. */
  begin(place: LivePlace, message: MessageId): LiveMessage;
  /** Anything else that is only told. */
  tell(scope: Scope, delta: Delta): void;
  partial(scope: Scope, run: RunId): MessagePartial | undefined;
  partials(scope: Scope): readonly MessagePartial[];
  /** Nothing is built for nobody: without listeners a piece costs two additions. */
  subscribe(listener: (scope: Scope, delta: Delta) => void): () => void;
}

export function createLive(): Live {
  const listeners = new Set<(scope: Scope, delta: Delta) => void>();
  const writing = new Map<string, { readonly scope: Scope; readonly partial: () => MessagePartial }>();

  function tell(scope: Scope, delta: Delta): void {
    for (const listener of listeners) listener(scope, delta);
  }

  return {
    begin({ scope, ...place }, message) {
      const id = `${scope}\n${place.run}`;
      let text = "";
      let reasoning = "";
      const partial = (): MessagePartial => ({ type: "message-partial", ...place, message, text, reasoning });
      const written = { scope, partial };
      writing.set(id, written);
      return {
        write(piece) {
          if (piece.type === "text-delta") text += piece.text;
          if (piece.type === "reasoning-delta") reasoning += piece.text;
          if (listeners.size > 0) tell(scope, { ...place, message, ...piece } as MessageDelta);
        },
        end() {
          if (writing.get(id) === written) writing.delete(id);
        },
      };
    },
    tell: (scope, delta) => {
      if (listeners.size > 0) tell(scope, delta);
    },
    partial: (scope, run) => writing.get(`${scope}\n${run}`)?.partial(),
    partials: (scope) => [...writing.values()].filter((each) => each.scope === scope).map((each) => each.partial()),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
