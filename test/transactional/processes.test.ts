/**
 * Real processes that book: killed inside `apply` and between COMMIT and its answer, and many at once. A few kills and
 * runs each time; more with HOLDFAST_BOOKING_KILLS and HOLDFAST_BOOKING_RUNS.
 */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRandom } from "../../src/testing/sim/random.ts";
import { aPostgresPlace, aSqlitePlace, expectKeptTogether, type Place } from "./bookings.ts";

const kills = Number(process.env.HOLDFAST_BOOKING_KILLS ?? 2);
const runs = Number(process.env.HOLDFAST_BOOKING_RUNS ?? 100);
const seed = process.env.HOLDFAST_BOOKING_SEED ?? "1";
const callsPerRun = 3;

interface Placed {
  readonly place: Place;
  /** What a child needs to find it. */
  readonly where: readonly [string, string];
}

interface Ended {
  readonly signal: NodeJS.Signals | null;
  /** The last line it said. */
  readonly said: string;
}

interface Said {
  readonly outcomes: readonly string[];
  readonly troubles: readonly string[];
  readonly largestGroupSize: number;
}

async function book(...args: readonly string[]): Promise<Ended> {
  const script = new URL("children/book.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=holdfast-source", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const end = new Promise<NodeJS.Signals | null>((resolve) => child.once("close", (_code, signal) => resolve(signal)));
  const said = (await text(child.stdout)).trim().split("\n").at(-1) ?? "";
  return { signal: await end, said };
}

const places: Record<string, () => Promise<Placed>> = {
  SQLite: async () => {
    const place = await aSqlitePlace();
    return { place, where: [place.file, "-"] };
  },
  Postgres: async () => {
    const place = await aPostgresPlace();
    return { place, where: [place.url, place.schema] };
  },
};

for (const [store, placed] of Object.entries(places)) {
  describe(`on ${store}`, () => {
    test(`X1 ${kills} times killed inside apply or after its COMMIT: rows are results`, {
      timeout: 30_000 + kills * 10_000,
    }, async () => {
      const { place, where } = await placed();
      const random = createRandom(seed);
      const count = String(kills * 2);
      let killed = 0;
      for (let kill = 0; kill < kills; kill += 1) {
        const way = kill % 2 === 0 ? "apply" : "commit";
        const { signal } = await book(...where, way, String(random.int(4)), "kill", count);
        if (signal === "SIGKILL") killed += 1;
      }
      expect(killed).toBe(kills);
      const { said } = await book(...where, "never", "0", "kill", count);
      expect((JSON.parse(said) as Said).outcomes).toEqual(Array.from({ length: Number(count) }, () => "completed"));
      const results = await expectKeptTogether(place);
      expect(results.map(({ result }) => result.kind)).toEqual(Array(Number(count) * callsPerRun).fill("value"));
    });

    test(`S12 ${runs} runs over two processes: each call has its row, and other commits share transactions`, {
      timeout: 30_000 + runs * 500,
    }, async () => {
      const { place, where } = await placed();
      const half = String(runs / 2);
      const ended = await Promise.all(["a", "b"].map((prefix) => book(...where, "never", "0", prefix, half)));
      const groups: number[] = [];
      for (const { said } of ended) {
        const { outcomes, troubles, largestGroupSize } = JSON.parse(said) as Said;
        expect(outcomes).toEqual(Array.from({ length: Number(half) }, () => "completed"));
        groups.push(largestGroupSize);
        console.log(`${store}: largest group ${largestGroupSize}; warnings: ${JSON.stringify(troubles.slice(0, 5))}`);
      }
      // Either process may work on the runs of both, and leave the other next to nothing to share.
      expect(Math.max(...groups)).toBeGreaterThan(1);
      const results = await expectKeptTogether(place);
      expect(results.map(({ result }) => result.kind)).toEqual(Array(runs * callsPerRun).fill("value"));
    });
  });
}
