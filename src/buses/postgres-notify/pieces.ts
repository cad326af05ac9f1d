/**
 * Live pieces between processes. Whoever watches asks; only who is asked sends. So a piece costs a look into a map while
 * somebody elsewhere watches another run, and nothing at all while nobody does.
 */
import type { FarPiece, Pieces, Writers } from "../../ports/bus.ts";
import type { StoreDeps } from "../../ports/store.ts";
import { createAsked } from "./asked.ts";
import { createAsking } from "./asking.ts";
import type { Line } from "./line.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import { askPayloads, helloPayload, piecePayloads } from "./payloads.ts";
import type { Said } from "./said.ts";

export interface NotifyPieces extends Pieces {
  said(said: Said): void;
  /** The line is up: for the first time or again. */
  ready(): void;
  close(): void;
}

/** What is written in this process, sent while somebody wants it. */
interface Offer {
  readonly outbox: Outbox;
  readonly writers: Writers;
  stop: (() => void) | undefined;
}

export function createPieces(origin: string, line: Line, { clock, logger }: StoreDeps): NotifyPieces {
  const listeners = new Set<(piece: FarPiece) => void>();
  const asked = createAsked(clock);
  const asking = createAsking({ clock, send: (asks) => void line.send(askPayloads(asks, origin)) });
  const offers: Offer[] = [];

  function tell(piece: FarPiece): void {
    for (const listener of listeners) {
      try {
        listener(piece);
      } catch (cause) {
        logger.warn(`A listener threw on a piece of run ${piece.told.run}`, { cause: String(cause) });
      }
    }
  }

  function listen(offer: Offer): void {
    offer.stop ??= offer.writers.subscribe((scope, told) => {
      try {
        offer.outbox.told(scope, told);
        if (asked.isEmpty()) rest(offer);
      } catch (cause) {
        // The writer is a run: whatever happens here is none of its business.
        logger.warn(`Pieces of run ${told.run} do not reach other processes`, { cause: String(cause) });
      }
    });
  }

  function rest(offer: Offer): void {
    offer.stop?.();
    offer.stop = undefined;
  }

  return {
    offer(writers) {
      const send = (frames: readonly string[]): Promise<boolean> => line.send(piecePayloads(frames, origin));
      const { isWanted } = asked;
      offers.push({
        outbox: createOutbox({ clock, writers, isWanted, send }),
        writers,
        stop: undefined,
      });
      if (line.isReady()) void line.send([helloPayload(origin)]);
    },
    ask: asking.ask,
    hear(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    said(said) {
      if (said.kind === "pieces") said.pieces.forEach(tell);
      if (said.kind === "hello") asking.repeat();
      if (said.kind !== "asks") return;
      const wishes = asked.hear(said.from, said.asks);
      for (const offer of offers) {
        if (!asked.isEmpty()) listen(offer);
        for (const wish of wishes) offer.outbox.begin(wish);
      }
    },
    ready() {
      asking.renew();
      if (offers.length > 0) void line.send([helloPayload(origin)]);
    },
    close() {
      asking.close();
      listeners.clear();
      for (const offer of offers) {
        rest(offer);
        offer.outbox.close();
      }
    },
  };
}
