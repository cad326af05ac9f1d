/**
 * Sink: who is told how runs end. Named by agents, given to workers, fed from the outbox.
 *
 * D1 What a sink is to be told is written in the commit that ends the run, or not at all. It is then delivered until the
 *    sink takes it, refuses it for good, or has failed too often; whatever process ended the run, and whatever dies.
 * D2 At least once: a delivery whose end nobody has seen, for its process died or the sink did not answer in time, is made
 *    again with the same key. Who remembers keys is told once. One that was completed is never made again.
 * D3 What is given up becomes evidence of its run, with the message and the reason.
 * D4 There is no order between messages, also of one run.
 * D5 Each sink has a lane of its own: one that is slow, hangs or is down holds up no other, and no run.
 */
import type { SinkMessage } from "../domain/sink-message.ts";

export interface Sink {
  /** Returns when the message is safe where it belongs. Throw SinkRefusal for "never again", anything else for "later". */
  readonly deliver: (message: SinkMessage, context: SinkContext) => Promise<void> | void;
  /** How long one attempt may take, in milliseconds; 30,000 unless said. */
  readonly timeoutMs?: number;
  /** How often a message is tried before it is given up; 300 unless said, which is about a day. */
  readonly attempts?: number;
  /** false: the output as it is. Without what the runtime's redaction hides unless said. */
  readonly redact?: boolean;
}

export interface SinkContext {
  /** The same for every attempt of this message, and for no other message of this sink. */
  readonly key: string;
  /** From 1; attempts that died with their process are counted too. */
  readonly attempt: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export type Sinks = Readonly<Record<string, Sink>>;
