import { afterAll } from "vitest";
import { pooledStore } from "../postgres/pooled-store.ts";
import { matrixOn } from "./matrix.ts";

/** Every cut takes some fifty milliseconds here: each run of the tests plays a few of every scenario, or all on request. */
const all = process.env.HOLDFAST_CRASH_ALL === "1";
const seed = process.env.HOLDFAST_CRASH_SEED ?? "1";

const store = pooledStore();
afterAll(async () => (await store).close());

// One schema for all: every cut has a scope of its own, as tenants have.
matrixOn("postgres", async () => ({
  store: await store,
  ...(all ? {} : { sample: { cuts: 4, seed } }),
}));
