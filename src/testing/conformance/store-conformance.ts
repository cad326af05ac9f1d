/**
 * The store's promises as named checks, free of any test framework: a table of implementations × checks is a loop.
 * Every check opens its own store on fresh data and closes it.
 */
import { births } from "./store-births.ts";
import { busy } from "./store-busy.ts";
import { claims } from "./store-claims.ts";
import { commits } from "./store-commits.ts";
import { content } from "./store-content.ts";
import { erasure } from "./store-erasure.ts";
import { family } from "./store-family.ts";
import { figures } from "./store-figures.ts";
import type { StoreCheck } from "./store-fixtures.ts";
import { inputs } from "./store-inputs.ts";
import { lists } from "./store-lists.ts";
import { order } from "./store-order.ts";
import { outbox } from "./store-outbox.ts";
import { posts } from "./store-posts.ts";
import { pruning } from "./store-pruning.ts";
import { reads } from "./store-reads.ts";
import { state } from "./store-state.ts";
import { successors } from "./store-successors.ts";
import { threads } from "./store-threads.ts";
import { transactions } from "./store-transactions.ts";
import { workers } from "./store-workers.ts";

export const storeConformance: Record<string, StoreCheck> = {
  ...births,
  ...family,
  ...busy,
  ...commits,
  ...posts,
  ...inputs,
  ...successors,
  ...transactions,
  ...workers,
  ...claims,
  ...figures,
  ...order,
  ...reads,
  ...threads,
  ...lists,
  ...state,
  ...erasure,
  ...outbox,
  ...pruning,
  ...content,
};
