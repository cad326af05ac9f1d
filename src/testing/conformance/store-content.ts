/** Checks of content (B1–B4). */
import assert from "node:assert/strict";
import type { CallId, InputId, MessageId } from "../../domain/ids.ts";
import type { Message } from "../../domain/message.ts";
import type { Birth } from "../../ports/birth.ts";
import type { Claim, Post, Store } from "../../ports/store.ts";
import {
  birthOf,
  checked,
  citing,
  claimOne,
  contentOf,
  ended,
  keyOf,
  type StoreCheck,
  scopeA,
  scopeB,
  started,
  stepped,
  threadKey,
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

function bornWith(run: string, { hash }: { readonly hash: string }): Birth {
  const birth = birthOf(run, { thread: "t" });
  const content = { hash, bytes: 3, mediaType: "text/plain" };
  const result = { kind: "value", value: null, content } as const;
  const part = { type: "tool-result", call: "c" as CallId, tool: "act", result } as const;
  const message: Message = { id: `${run}.in` as MessageId, role: "tool", parts: [part], visibility: "all" };
  return { ...birth, entry: { ...birth.entry, input: [message] } };
}

function inputWith(run: string, { hash }: { readonly hash: string }): Post {
  const content = { hash, bytes: 3, mediaType: "image/png" };
  const parts = [{ type: "image", mediaType: "image/png", content }] as const;
  const message: Message = { id: `in.${hash}` as MessageId, role: "user", parts, visibility: "all" };
  const fact = { type: "input-received", input: `in.${hash}` as InputId, message, by: "ana" } as const;
  return { ...keyOf(run), key: hash, fact };
}

async function collect(store: Store, olderThanMs: number, limit: number = 9): Promise<number> {
  return (await store.collectContent({ scope: scopeA, olderThanMs, limit })).length;
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
    const commit = { ...claim, expectedSeq: 2, position: 0 };
    const both = [citing(one), citing(two)];
    await throwsCode(store.commit({ ...commit, entries: both }), "content-not-found");
    assert.equal((await store.run(keyOf("r1")))?.head, 2);
    assert.equal(await collect(store, 0), 1);
    await throwsCode(store.commit({ ...commit, entries: [citing(one)] }), "content-not-found");
    await write(store, claim, { entries: [stepped(1)], after: 2 });
  }),

  "B2 a post that refers to content cites it, and one to content that is not there is refused whole": checked(
    async ({ store }) => {
      await startedRun(store, "r1");
      await store.putContent(one);
      await throwsCode(store.post(inputWith("r1", two)), "content-not-found");
      assert.equal((await store.run(keyOf("r1")))?.head, 2);
      const posted = await store.post(inputWith("r1", one));
      assert.equal(posted.kind, "posted");
      assert.deepEqual(await store.post(inputWith("r1", one)), posted);
      assert.equal(await collect(store, 0), 0);
      assert.ok(await store.content(one));
    },
  ),

  "B3 what a run cites is not collected, the rest when it is old enough, the oldest first": checked(
    async ({ store, clock }) => {
      const claim = await startedRun(store, "r1");
      await store.putContent(one);
      clock.advance(10);
      await store.putContent(two);
      clock.advance(10);
      await store.putContent(contentOf("three"));
      await write(store, claim, { entries: [citing(one), citing(one)], after: 2 });
      await write(store, claim, { entries: [citing(one)], after: 4 });
      assert.equal(await collect(store, 11), 0);
      assert.deepEqual(await store.collectContent({ scope: scopeB, olderThanMs: 0, limit: 9 }), []);
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
      await write(store, claim, { entries: [citing(one), ended], after: 2 });
    }
    await store.eraseRun(keyOf("r1"));
    assert.equal(await collect(store, 0), 0);
    await store.eraseRun(keyOf("r2"));
    assert.equal(await collect(store, 0), 1);
  }),

  "B2 a birth cites what its input refers to, also one that another run's end brings": checked(async ({ store }) => {
    await throwsCode(store.create(bornWith("r1", one)), "content-not-found");
    assert.equal(await store.run(keyOf("r1")), undefined);
    await store.putContent(one);
    await store.putContent(two);
    await store.create(bornWith("r1", one));
    const claim = await claimOne(store);
    await write(store, claim, { entries: [started(0), ended], after: 1, successor: bornWith("r2", two) });
    assert.equal(await collect(store, 0), 0);
    await store.eraseRun(keyOf("r1"));
    assert.equal(await collect(store, 0), 1);
    assert.ok(await store.content(two));
  }),

  "B2 imported history cites what its messages refer to": checked(async ({ store }) => {
    const thread = threadKey("t");
    const birth = birthOf("r1", { thread: "t" });
    const history = { birth, rest: [started(0), citing(one), ended] };
    await throwsCode(store.createThread({ ...thread, history }), "content-not-found");
    assert.equal(await store.thread(thread), undefined);
    await store.putContent(one);
    await store.createThread({ ...thread, history });
    assert.equal(await collect(store, 0), 0);
    await store.eraseRun(keyOf("r1"));
    assert.equal(await collect(store, 0), 1);
  }),

  "B5 of bytes that are elsewhere the store keeps the first place, and gives it back when it is collected": checked(
    async ({ store, reopen }) => {
      const { scope, hash, mediaType } = one;
      const known = { scope, hash, mediaType };
      await store.putContent({ ...known, place: "shelf 1" });
      await store.putContent({ ...known, place: "shelf 2" });
      await store.putContent(one);
      const again = await reopen();
      assert.deepEqual(await again.content(one), { mediaType: "text/plain", place: "shelf 1" });
      const all = { scope: scopeA, olderThanMs: 0, limit: 9 };
      assert.deepEqual(await again.collectContent(all), [{ hash: one.hash, place: "shelf 1" }]);
      await again.putContent(one);
      assert.deepEqual(await again.collectContent(all), [{ hash: one.hash }]);
    },
  ),
};
