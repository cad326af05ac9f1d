/** The server's time, counted on between two answers. */
import { expect, test } from "vitest";
import { createServerClock } from "../../src/stores/postgres/server-clock.ts";

interface World {
  /** By this machine's count, and by the server's clock. */
  counted: number;
  server: number;
  asked: number;
  isAway: boolean;
  /** This machine's wall clock, which may say anything. */
  wall?: number;
}

async function clockIn(world: World): Promise<() => number> {
  const clock = { now: () => world.wall ?? Number.NaN, monotonic: () => world.counted, sleep: async () => undefined };
  return createServerClock(clock, async () => {
    world.asked += 1;
    if (world.isAway) throw new Error("the server is away");
    return world.server;
  });
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("K1 K2 the server's time goes on by this machine's count, and no wall clock is asked", async () => {
  const world = { counted: 500, server: 1_000_000, asked: 0, isAway: false };
  const now = await clockIn(world);
  expect(now()).toBe(1_000_000);
  world.counted += 1_234.5;
  expect(now()).toBe(1_001_234);
  expect(world.asked).toBe(1);
});

test("K3 after a minute it is asked again, once, and a server that is away changes nothing", async () => {
  const world = { counted: 0, server: 0, asked: 0, isAway: false };
  const now = await clockIn(world);
  Object.assign(world, { counted: 60_001, server: 59_000, isAway: true });
  for (let n = 0; n < 5; n += 1) expect(now()).toBe(60_001);
  await settled();
  expect(world.asked).toBe(2);
  world.isAway = false;
  now();
  await settled();
  expect(now()).toBe(59_000);
  expect(world.asked).toBe(3);
});

test("K3 a machine that slept, and counted nothing meanwhile, asks at once", async () => {
  const world = { counted: 0, server: 1_000, asked: 0, isAway: false, wall: 50_000 };
  const now = await clockIn(world);
  Object.assign(world, { counted: 10, server: 3_601_010, wall: 3_650_010 });
  now();
  await settled();
  expect(now()).toBe(3_601_010);
  Object.assign(world, { counted: 20, server: 3_601_020, wall: 0 });
  now();
  await settled();
  expect([now(), world.asked]).toEqual([3_601_020, 3]); // moved by hand: asked, and told the same
});
