/** Commits that bring work of their own into the transaction (S12). Whoever has no such transactions says so and writes nothing. */
import assert from "node:assert/strict";
import type { EntryBody } from "../../domain/entry.ts";
import { isHoldfastError } from "../../domain/errors.ts";
import type { CommitAnswer, Store, Transact } from "../../ports/store.ts";
import {
  birthOf,
  checked,
  claimAll,
  claimOne,
  headOf,
  inputTo,
  keyOf,
  type StoreCheck,
  started,
  stepped,
  throwsCode,
} from "./store-fixtures.ts";

interface Attempt {
  readonly epoch: number;
  readonly expectedSeq: number;
  readonly transaction: Transact;
}

async function transact(store: Store, attempt: Attempt): Promise<CommitAnswer | "not-transactional"> {
  try {
    return await store.commit({ ...keyOf("r1"), position: 0, entries: [], ...attempt });
  } catch (cause) {
    if (isHoldfastError(cause, "not-transactional")) return "not-transactional";
    throw cause;
  }
}

/** Counts how often it ran. */
function counted(entries: readonly EntryBody[]): { readonly transaction: Transact; readonly runs: () => number } {
  let runs = 0;
  const transaction = (): readonly EntryBody[] => {
    runs += 1;
    return entries;
  };
  return { transaction, runs: () => runs };
}

export const transactions: Record<string, StoreCheck> = {
  "S12 the entries of a commit are what its transaction answers, or the store has no transactions": checked(
    async ({ store }) => {
      await store.create(birthOf("r1"));
      const { epoch } = await claimOne(store);
      const { transaction, runs } = counted([started(0), stepped(1)]);
      const answer = await transact(store, { epoch, expectedSeq: 1, transaction });
      if (answer === "not-transactional") return assert.equal(await headOf(store, keyOf("r1")), 1);
      assert.equal(answer.kind, "committed");
      assert.equal(runs(), 1);
      assert.equal(await headOf(store, keyOf("r1")), 3);
      assert.equal((await store.run(keyOf("r1")))?.status, "running");
    },
  ),

  "S12 a transaction does not run when its commit is fenced, behind, or after the end": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const { epoch } = await claimOne(store);
    await store.post(inputTo("r1", "i1"));
    const { transaction, runs } = counted([started(0)]);
    const behind = await transact(store, { epoch, expectedSeq: 1, transaction });
    const fenced = await transact(store, { epoch: epoch + 1, expectedSeq: 2, transaction });
    assert.deepEqual([behind, fenced].map(kindOf), ["behind", "fenced"]);
    assert.equal(runs(), 0);
    await throwsCode(transact(store, { epoch, expectedSeq: 9, transaction }), "journal-regressed");
    assert.equal(runs(), 0);
  }),

  "S12 what a transaction throws undoes its commit, and is thrown as apply-failed": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const { epoch } = await claimOne(store);
    const transaction = (): never => {
      throw new Error("no seats");
    };
    const answer = transact(store, { epoch, expectedSeq: 1, transaction });
    const thrown = await answer.catch((cause: unknown) => cause);
    if (thrown === "not-transactional") return;
    assert.ok(isHoldfastError(thrown, "apply-failed"));
    assert.equal((thrown.cause as Error).message, "no seats");
    assert.equal(await headOf(store, keyOf("r1")), 1);
  }),

  "S9 a transaction that throws fails no neighbour": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    await store.create(birthOf("r2", { thread: "t2" }));
    const claims = await claimAll(store);
    const epochOf = (run: string): number => claims.find((claim) => claim.run === run)?.epoch ?? 0;
    const transaction = (): never => {
      throw new Error("no seats");
    };
    const [failed, neighbour] = await Promise.allSettled([
      transact(store, { epoch: epochOf("r1"), expectedSeq: 1, transaction }),
      store.commit({ ...keyOf("r2"), epoch: epochOf("r2"), expectedSeq: 1, position: 0, entries: [started(0)] }),
    ]);
    assert.equal(failed.status === "rejected" || failed.value === "not-transactional", true);
    assert.equal(neighbour.status === "fulfilled" && neighbour.value.kind, "committed");
  }),
};

function kindOf(answer: CommitAnswer | "not-transactional"): string {
  return answer === "not-transactional" ? answer : answer.kind;
}
