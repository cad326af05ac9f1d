/**
 * The server's time as this process knows it: what the server said, and what was counted here since then.
 *
 * K1 It is never ahead of the server by more than the two clocks drift apart in a minute, and behind by at most the way
 *    of one answer: what the server said is taken for the moment when the answer arrived.
 * K2 This machine's wall clock has no part in it, wrong or moved.
 * K3 The server is asked again, in the background, by whoever wants to know the time: once a minute, and when this machine's
 *    wall clock has leapt. A machine that slept has counted nothing meanwhile, and is behind until the answer is there.
 */
import type { Clock } from "../../ports/clock.ts";
import { storeTime } from "./access.ts";
import type { Queries } from "./database.ts";

const trustMs = 60_000;
const leapMs = 1_000;

/** In milliseconds. */
export async function readTime(db: Queries): Promise<number> {
  const row = await db.get<{ now: number }>(`SELECT ${storeTime("NULL")} AS now`);
  return row?.now ?? Number.NaN;
}

export async function createServerClock(clock: Clock, ask: () => Promise<number>): Promise<() => number> {
  let offset = 0;
  let known = 0;
  let ahead = 0;
  let asking = false;

  async function learn(): Promise<void> {
    const said = await ask();
    known = clock.monotonic();
    ahead = clock.now() - known;
    offset = said - known;
  }

  /** K3. */
  function isOld(counted: number): boolean {
    return counted - known > trustMs || Math.abs(clock.now() - counted - ahead) > leapMs;
  }

  await learn();
  return () => {
    const counted = clock.monotonic();
    if (!asking && isOld(counted)) {
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
