/** An outbox on a fake clock, a writer that tells it everything, and what was sent with its time. */
import { onTestFinished } from "vitest";
import { createOutbox, type Outbox } from "../../src/buses/postgres-notify/outbox.ts";
import { piecePayloads } from "../../src/buses/postgres-notify/payloads.ts";
import { saidIn } from "../../src/buses/postgres-notify/said.ts";
import type { MessageId, RunId, Scope, ThreadId } from "../../src/domain/ids.ts";
import { createLive, type Live, type LiveMessage } from "../../src/engine/live.ts";
import type { FarPiece } from "../../src/ports/bus.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";

export const scope = "a" as Scope;
export const thread = "t" as ThreadId;

export interface Desk {
  readonly clock: FakeClock;
  readonly live: Live;
  readonly outbox: Outbox;
  /** Every notification: when it was sent, and what others read in it. */
  readonly sent: { readonly at: number; readonly bytes: number; readonly pieces: readonly FarPiece[] }[];
  line: "up" | "down" | "stuck";
  readonly unwanted: Set<string>;
  writer(run: string, attempt?: number): LiveMessage;
}

export function openDesk(): Desk {
  const clock = createFakeClock(0);
  const live = createLive();
  const sent: Desk["sent"] = [];
  const unwanted = new Set<string>();
  const desk = { line: "up" as Desk["line"] };
  const outbox = createOutbox({
    clock,
    writers: live,
    isWanted: (_scope, run) => !unwanted.has(run),
    async send(frames) {
      if (desk.line === "down") return false;
      for (const payload of piecePayloads(frames, "writer")) {
        const said = saidIn(payload, "reader");
        const pieces = said?.kind === "pieces" ? said.pieces : [];
        sent.push({ at: clock.now(), bytes: Buffer.byteLength(payload), pieces });
      }
      while (desk.line === "stuck") await clock.sleep(10);
      return true;
    },
  });
  live.subscribe((each, told) => outbox.told(each, told));
  onTestFinished(() => outbox.close());
  const writer = (run: string, attempt = 1): LiveMessage =>
    live.begin({ scope, run: run as RunId, thread, step: 1, attempt }, `${run}.1` as MessageId);
  return Object.assign(desk, { clock, live, outbox, sent, unwanted, writer });
}

/** What was sent in short: kind, place and text. */
export function short({ told, at }: FarPiece): string {
  if (told.type === "tool-progress") return `progress ${JSON.stringify(told.progress)}`;
  if (told.type === "message-retracted") return `retracted ${told.attempt}`;
  return `${told.type.replace("-delta", "")} ${at} ${told.text}`;
}
