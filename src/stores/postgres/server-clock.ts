/**
 * The server's time as this process knows it: what the server said, and what was counted here since then.
 *
 * K1 It is never ahead of the server by more than the two clocks drift apart in a minute, and behind by at most the way
 *    of one answer: what the server said is taken for the moment when the answer arrived.
 * K2 This machine's wall clock has no part in it, wrong or moved.
 * K3 It is asked again by whoever wants to know the time, at most once a minute, in the background.
 */
import type { Clock } from "../../ports/clock.ts";
import { storeTime } from "./access.ts";
import type { Queries } from "./database.ts";

const trustMs = 60_000;

/** In milliseconds. */
export async function readTime(db: Queries): Promise<number> {
  const row = await db.get<{ now: number }>(`SELECT ${storeTime("NULL")} AS now`);
  return row?.now ?? Number.NaN;
}

export async function createServerClock(clock: Clock, ask: () => Promise<number>): Promise<() => number> {
  let offset = 0;
  let known = 0;
  let asking = false;

  async function learn(): Promise<void> {
    const said = await ask();
    known = clock.monotonic();
    offset = said - known;
  }

  await learn();
  return () => {
    const counted = clock.monotonic();
    if (counted - known > trustMs && !asking) {
      asking = true;
      learn()
        .catch(() => undefined) // the next one asks again
        .finally(() => {
          asking = false;
        });
    }
    return Math.floor(offset + counted);
  };
}
