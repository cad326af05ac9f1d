/** Checks of who is claimed, when and in which order: hints, polls, priority, start times, scopes and limits. */
import assert from "node:assert/strict";
import type { Scope } from "../../domain/ids.ts";
import { type DispatcherCheck, dispatching, pollMs } from "./dispatcher-bench.ts";
import { birthOf, scopeA, scopeB, started, waiting } from "./store-fixtures.ts";

const long = { pollMs: 10_000_000 };

export const claimChecks: Record<string, DispatcherCheck> = {
  "each run goes to one of two workers, and every run to one": dispatching(async ({ worker, born, quiet }) => {
    await born(...Array.from({ length: 30 }, (_, n) => birthOf(`r${n}`)));
    const [first, second] = [worker({ concurrency: 15 }), worker({ concurrency: 15 })];
    await quiet();
    assert.equal(new Set([...first.names(), ...second.names()]).size, 30);
    assert.deepEqual([first.claims.length, second.claims.length], [15, 15]);
  }),

  "a hint wakes a worker at once": dispatching(async ({ worker, born, hint, quiet }) => {
    const each = worker(long);
    await quiet();
    await born(birthOf("r1"));
    await hint("r1");
    await quiet();
    assert.deepEqual(each.inHand(), ["r1"]);
  }),

  "a hint of a scope that is not served wakes nobody": dispatching(async ({ worker, hint, quiet }) => {
    const each = worker(long);
    await quiet();
    const before = each.calls("claim");
    await hint("r1", scopeB);
    await quiet();
    assert.equal(each.calls("claim"), before);
  }),

  "what no hint told of is found by the poll": dispatching(async ({ worker, born, pass }) => {
    const each = worker();
    await pass(1);
    await born(birthOf("r1"));
    await pass(pollMs - 2);
    assert.deepEqual(each.names(), []);
    await pass(1);
    assert.deepEqual(each.inHand(), ["r1"]);
  }),

  "runs are taken by priority, then by how long they have been due": dispatching(
    async ({ worker, born, pass, quiet }) => {
      await born(birthOf("low", { priority: -1 }), birthOf("first"));
      await pass(1);
      await born(birthOf("second"), birthOf("high", { priority: 1 }));
      const each = worker({ concurrency: 1 });
      for (let n = 0; n < 4; n += 1) {
        await quiet();
        await each.claims.at(-1)?.end();
      }
      assert.deepEqual(each.names(), ["high", "first", "second", "low"]);
    },
  ),

  "a thread with a long queue gets one place in the line": dispatching(async ({ worker, born, pass, quiet }) => {
    await born(...["q1", "q2", "q3"].map((run) => birthOf(run, { thread: "long" })));
    await pass(1);
    await born(birthOf("a"), birthOf("b"));
    const each = worker({ concurrency: 1 });
    for (let n = 0; n < 5; n += 1) {
      await pass(1);
      await each.claims.at(-1)?.end();
      await quiet();
    }
    assert.deepEqual(each.names(), ["q1", "a", "b", "q2", "q3"]);
  }),

  "a run with a start time is taken at that time, without a poll or a hint": dispatching(
    async ({ worker, born, pass, clock }) => {
      await born(birthOf("r1", { startAt: clock.now() + 4_000 }));
      const each = worker(long);
      await pass(3_999);
      assert.deepEqual(each.names(), []);
      await pass(1);
      assert.deepEqual(each.inHand(), ["r1"]);
    },
  ),

  "P7 a scope with a long line leaves the others their share": dispatching(async ({ worker, born, quiet }) => {
    await born(...Array.from({ length: 20 }, (_, n) => birthOf(`a${n}`)));
    await born(...["b1", "b2"].map((run) => birthOf(run, { scope: scopeB })));
    const each = worker({ scopes: [scopeA, scopeB], concurrency: 4 });
    await quiet();
    assert.deepEqual(each.inHand().toSorted(), ["a0", "a1", "b1", "b2"]);
  }),

  "P7 O1 with room for one, scopes take turns": dispatching(async ({ worker, born, quiet }) => {
    const scopes = ["x", "y", "z"] as Scope[];
    for (const scope of scopes) await born(...[1, 2].map((n) => birthOf(`${scope}${n}`, { scope })));
    const each = worker({ scopes: "all", concurrency: 1 });
    for (let n = 0; n < 6; n += 1) {
      await quiet();
      await each.claims.at(-1)?.end();
    }
    assert.deepEqual(each.names(), ["x1", "y1", "z1", "x2", "y2", "z2"]);
  }),

  "runs of the same id in two scopes are two runs": dispatching(async ({ worker, born, quiet }) => {
    await born(birthOf("same"), birthOf("same", { scope: scopeB }));
    const each = worker({ scopes: [scopeA, scopeB] });
    await quiet();
    assert.deepEqual(
      each.claims.map(({ scope }) => scope),
      [scopeA, scopeB],
    );
    assert.deepEqual(each.inHand(), ["same", "same"]);
  }),

  "a worker of all scopes finds new ones by the poll, and keeps their times without one": dispatching(
    async ({ worker, born, pass, clock }) => {
      const each = worker({ scopes: "all" });
      await pass(1);
      const startAt = clock.now() + pollMs + 700;
      await born(birthOf("now", { scope: "x" as Scope }), birthOf("later", { scope: "y" as Scope, startAt }));
      await pass(pollMs);
      assert.deepEqual(each.inHand(), ["now"]);
      await pass(700);
      assert.deepEqual(each.inHand(), ["now", "later"]);
    },
  ),

  "R1 R2 a full agent is not passed, and holds up no other": dispatching(async ({ worker, born, quiet }) => {
    await born(...Array.from({ length: 20 }, (_, n) => birthOf(`ann${n}`)));
    await born(...[1, 2, 3].map((n) => birthOf(`bob${n}`, { agent: "bob" })));
    const each = worker({ agents: () => ["ann", "bob"], concurrency: 10, concurrencyPerAgent: { ann: 2 } });
    await quiet();
    assert.deepEqual(each.inHand().toSorted(), ["ann0", "ann1", "bob1", "bob2", "bob3"]);
    await each.claims.find(({ run }) => run === "ann0")?.end();
    await quiet();
    assert.deepEqual(each.inHand().toSorted(), ["ann1", "ann2", "bob1", "bob2", "bob3"]);
  }),

  "R1 an agent's limit is over all scopes, and room in one is offered to the next": dispatching(
    async ({ worker, born, quiet }) => {
      await born(birthOf("a1"), birthOf("a2"), birthOf("b1", { scope: scopeB }));
      const each = worker({ ...long, scopes: [scopeA, scopeB], concurrencyPerAgent: { ann: 2 } });
      await quiet();
      assert.deepEqual(each.inHand(), ["a1", "b1"]);
      await each.claims.find(({ run }) => run === "b1")?.end();
      await quiet();
      assert.deepEqual(each.inHand(), ["a1", "a2"]);
    },
  ),

  "R1 a scope's limit is kept, and the others use the room": dispatching(async ({ worker, born, quiet }) => {
    await born(...Array.from({ length: 9 }, (_, n) => birthOf(`a${n}`)));
    await born(...Array.from({ length: 9 }, (_, n) => birthOf(`b${n}`, { scope: scopeB })));
    const each = worker({ scopes: [scopeA, scopeB], concurrency: 8, concurrencyPerScope: 3 });
    await quiet();
    assert.deepEqual(each.inHand().toSorted(), ["a0", "a1", "a2", "b0", "b1", "b2"]);
  }),

  "O3 a store that says due and gives nothing is not asked in a busy loop": dispatching(
    async ({ worker, born, pass }) => {
      await born(birthOf("r1"));
      let asked = 0;
      const each = worker({
        intercept: (call, proceed) => {
          if (call.method !== "claim") return proceed();
          asked += 1;
          return asked > 200 ? Promise.reject(new Error("asked too often")) : none(); // a busy loop would never end
        },
      });
      await pass(10 * pollMs);
      assert.ok(each.calls("claim") >= 10, "it is asked at every poll");
      assert.ok(each.calls("claim") < 40, `it was asked ${each.calls("claim")} times in ten polls`);
    },
  ),

  "a timer fires once, whoever waits for it, and there is no timer per waiting run": dispatching(
    async ({ worker, born, store, pass, clock }) => {
      const wake = clock.now() + 3_000;
      const count = 40;
      await born(...Array.from({ length: count }, (_, n) => birthOf(`r${n}`)));
      await parkAll(store, wake);
      const workers = [worker(long), worker(long)];
      await pass(2_999);
      for (const each of workers) {
        assert.deepEqual(each.names(), []);
        assert.ok(each.sleeping() <= 2, `${each.sleeping()} timers for ${count} runs`);
      }
      await pass(1);
      const names = workers.flatMap((each) => each.names());
      assert.equal(names.length, count);
      assert.equal(new Set(names).size, count);
    },
  ),

  "a timer that came while no process lived fires once, at once": dispatching(
    async ({ worker, born, store, pass, quiet, clock }) => {
      await born(birthOf("r1"));
      await parkAll(store, clock.now() + 1_000);
      await pass(3_600_000);
      const workers = [worker(long), worker(long)];
      await quiet();
      assert.deepEqual(
        workers.flatMap((each) => each.names()),
        ["r1"],
      );
    },
  ),
};

function none<T>(): Promise<T> {
  return Promise.resolve([] as T);
}

async function parkAll(store: Parameters<Parameters<typeof dispatching>[0]>[0]["store"], wake: number): Promise<void> {
  const claims = await store.claim({ scope: scopeA, agents: ["ann"], leaseMs: 1_000, limit: 100, claimId: "park" });
  for (const { scope, run, epoch } of claims) {
    await store.commit({ scope, run, epoch, expectedSeq: 1, entries: [started(0), waiting], position: 0, wake });
  }
}
