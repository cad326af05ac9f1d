/** W8: however many transactions of tools there are, and however long they last, everyone else's writes go on. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ThreadId } from "../../src/domain/ids.ts";
import type { Claim, Store } from "../../src/ports/store.ts";
import { birthOf, claimAll, leaseMs, scopeA, started } from "../../src/testing/conformance/store-fixtures.ts";
import { freshStore, opened } from "./shared-server.ts";

interface Slow {
  /** It has begun. */
  readonly begun: Promise<void>;
  /** Lets it end, and answers how. */
  end(): Promise<string>;
}

function slowly(store: Store, { scope, run, epoch }: Claim): Slow {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const transaction = async () => {
    begun.resolve();
    await gate.promise;
    return [started(0)];
  };
  const committed = store.commit({ scope, run, epoch, expectedSeq: 1, entries: [], position: 0, transaction });
  return {
    begun: begun.promise,
    end: async () => {
      gate.resolve();
      return (await committed).kind;
    },
  };
}

async function claimed(store: Store, count: number): Promise<readonly [Claim, ...Claim[]]> {
  for (let n = 0; n < count; n += 1) await store.create(birthOf(`r${n}`));
  const [first, ...others] = await claimAll(store, { limit: count });
  if (!first) throw new Error("nothing is claimable");
  return [first, ...others];
}

test("W8 more of them than connections hold up no renewal", async () => {
  const store = await opened((await freshStore({ connections: 4 })).definition);
  const [first, ...others] = await claimed(store, 6);
  const slow = others.map((claim) => slowly(store, claim));
  await slow[0]?.begun;
  await delay(100); // no more of them begin
  expect((await store.renew({ ...first, leaseMs })).kind).toBe("renewed");
  expect(await Promise.all(slow.map((each) => each.end()))).toEqual(slow.map(() => "committed"));
});

test("W8 nor does a thread that is to be deleted meanwhile, and its own is busy as soon as that can be told", async () => {
  const store = await opened((await freshStore()).definition);
  const [first, other] = await claimed(store, 2);
  const slow = slowly(store, first);
  await slow.begun;
  const none = store.deleteThread({ scope: scopeA, thread: "none" as ThreadId, children: "reject" });
  expect((await store.renew({ ...(other as Claim), leaseMs })).kind).toBe("renewed");
  expect((await none).kind).toBe("not-found");
  const own = store.deleteThread({ scope: scopeA, thread: first.thread, children: "reject" });
  await delay(50);
  expect(await slow.end()).toBe("committed");
  expect(await own).toEqual({ kind: "busy", run: first.run });
});
