/**
 * The store's promises as named checks, free of any test framework: a table of implementations × checks is a loop.
 * Every check opens its own store on fresh data and closes it.
 */
import { births } from "./store-births.ts";
import { claims } from "./store-claims.ts";
import { commits } from "./store-commits.ts";
import type { StoreCheck } from "./store-fixtures.ts";
import { posts } from "./store-posts.ts";
import { reads } from "./store-reads.ts";

export const storeConformance: Record<string, StoreCheck> = { ...births, ...commits, ...posts, ...claims, ...reads };
