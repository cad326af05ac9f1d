import { test } from "vitest";
import { compareWithMemory } from "../../src/testing/conformance/store-comparison.ts";
import { freshStore } from "./shared-server.ts";

/** 2,000 take about five minutes. */
const lists = Number(process.env.HOLDFAST_POSTGRES_LISTS ?? 300);

test(`postgres answers ${lists} random command lists as memory does`, { timeout: 1_200_000 }, async () => {
  const { definition } = await freshStore();
  await compareWithMemory(definition.open, {
    lists,
    length: 40,
    seed: Number(process.env.HOLDFAST_POSTGRES_SEED ?? 1),
  });
});
