/** Checks of content (B1–B4). */
import assert from "node:assert/strict";
import type { Claim, Store } from "../../ports/store.ts";
import {
  birthOf,
  checked,
  claimOne,
  contentOf,
  ended,
  keyOf,
  type StoreCheck,
  scopeA,
  scopeB,
  started,
  stepped,
  throwsCode,
  write,
} from "./store-fixtures.ts";

const one = contentOf("one");
const two = contentOf("two");

async function startedRun(store: Store, run: string): Promise<Claim> {
  await store.create(birthOf(run));
  const claim = await claimOne(store);
  await write(store, claim, { entries: [started(0)], after: 1 });
  return claim;
}

function collect(store: Store, olderThanMs: number, limit: number = 9): Promise<number> {
  return store.collectContent({ scope: scopeA, olderThanMs, limit });
}

export const content: Record<string, StoreCheck> = {
  "B1 content is found by its hash, byte for byte, in its scope alone": checked(async ({ store, reopen }) => {
    const body = Uint8Array.from({ length: 256 }, (_, n) => n);
    const hash = "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880";
    await store.putContent({ scope: scopeA, hash, mediaType: "image/png", body });
    await store.putContent({ scope: scopeA, hash, mediaType: "text/plain", body });
    body.fill(0);
    const again = await reopen();
    const found = { mediaType: "image/png", body: Uint8Array.from({ length: 256 }, (_, n) => n) };
    assert.deepEqual(await again.content({ scope: scopeA, hash }), found);
    assert.equal(await again.content({ scope: scopeB, hash }), undefined);
    assert.equal(await again.content({ scope: scopeA, hash: "none" }), undefined);
  }),

  "B1 bytes that have another hash are refused, and nothing is written": checked(async ({ store }) => {
    await throwsCode(store.putContent({ ...one, hash: two.hash }), "content-hash-mismatch");
    await throwsCode(store.putContent({ ...one, hash: one.hash.toUpperCase() }), "content-hash-mismatch");
    assert.equal(await store.content(two), undefined);
    assert.equal(await store.content(one), undefined);
  }),

  "B2 a commit that cites content that is not there is refused whole": checked(async ({ store }) => {
    const claim = await startedRun(store, "r1");
    await store.putContent(one);
    await store.putContent({ ...two, scope: scopeB });
    const commit = { ...claim, expectedSeq: 2, entries: [stepped(1)], position: 0 };
    await throwsCode(store.commit({ ...commit, cites: [one.hash, two.hash] }), "content-not-found");
    assert.equal((await store.run(keyOf("r1")))?.head, 2);
    assert.equal(await collect(store, 0), 1);
    await throwsCode(store.commit({ ...commit, cites: [one.hash] }), "content-not-found");
    await write(store, claim, { entries: [stepped(1)], after: 2 });
  }),

  "B3 what a run cites is not collected, the rest when it is old enough, the oldest first": checked(
    async ({ store, clock }) => {
      const claim = await startedRun(store, "r1");
      await store.putContent(one);
      clock.advance(10);
      await store.putContent(two);
      clock.advance(10);
      await store.putContent(contentOf("three"));
      await write(store, claim, { entries: [stepped(1)], after: 2, cites: [one.hash, one.hash] });
      await write(store, claim, { entries: [stepped(2)], after: 3, cites: [one.hash] });
      assert.equal(await collect(store, 11), 0);
      assert.equal(await store.collectContent({ scope: scopeB, olderThanMs: 0, limit: 9 }), 0);
      assert.equal(await collect(store, 0, 1), 1);
      assert.equal(await store.content(two), undefined);
      assert.equal(await collect(store, 0), 1);
      assert.equal(await collect(store, 0), 0);
      assert.ok(await store.content(one));
    },
  ),

  "B3 putting content again makes it young": checked(async ({ store, clock }) => {
    await store.putContent(one);
    clock.advance(100);
    await store.putContent(one);
    assert.equal(await collect(store, 50), 0);
    clock.advance(50);
    assert.equal(await collect(store, 50), 1);
  }),

  "B4 content can be collected when the last run that cites it is erased": checked(async ({ store }) => {
    await store.putContent(one);
    for (const run of ["r1", "r2"]) {
      const claim = await startedRun(store, run);
      await write(store, claim, { entries: [ended], after: 2, cites: [one.hash] });
    }
    await store.eraseRun(keyOf("r1"));
    assert.equal(await collect(store, 0), 0);
    await store.eraseRun(keyOf("r2"));
    assert.equal(await collect(store, 0), 1);
  }),
};
