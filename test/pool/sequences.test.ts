import { expect, test } from "vitest";
import { pool } from "../../src/providers/pool/pool.ts";
import { runSequences } from "./campaign.ts";

const count = Number(process.env["HOLDFAST_POOL_SEQUENCES"] ?? 10_000);

test(`${count} random sequences: the pool does what the reference does, and every member recovers`, async () => {
  expect(await runSequences(pool, 1, count)).toBeUndefined();
});
