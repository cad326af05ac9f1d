/** C2: a commit whose answer was lost may still be under way, and become visible only when it is tried again. */

import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, HoldfastError, memory, tool } from "../../src/index.ts";
import type { Commit, Store, StoreDefinition } from "../../src/ports/store.ts";
import { aModelThat, anAgentWith, callsTool, given, says } from "../../src/testing/story.ts";

/** The n-th commit is written only when the next one comes. */
function lateStore(n: number): StoreDefinition & { readonly wasLate: () => boolean } {
  const definition = memory();
  let commits = 0;
  let late: Commit | undefined;
  let wasLate = false;
  async function open(deps: Parameters<StoreDefinition["open"]>[0]): Promise<Store> {
    const store = await definition.open(deps);
    return {
      ...store,
      async commit(commit) {
        commits += 1;
        if (commits === n) {
          late = commit;
          throw new HoldfastError("commit-unknown", "the line was cut");
        }
        if (late) {
          await store.commit(late);
          late = undefined;
          wasLate = true;
        }
        return store.commit(commit);
      },
    };
  }
  return { ...definition, open, wasLate: () => wasLate };
}

for (let n = 1; n <= 5; n += 1) {
  test(`C2 commit ${n} appears late: the run goes on, and the tool runs once`, async () => {
    let runs = 0;
    const count = (): number => {
      runs += 1;
      return runs;
    };
    const act = tool({ name: "act", description: "Acts", input: z.object({}), execute: count });
    const store = lateStore(n);
    await using story = await given(anAgentWith(act), aModelThat(callsTool("act"), says("Done.")), { store });
    const run = await story.userSays("act");
    await story.expectReply(run, "Done.");
    expect(runs).toBe(1);
    expect(store.wasLate()).toBe(n <= 4);
  });
}

test("C2 where no outcome is ever known, runs and callers try again ever more rarely, and close() returns", async () => {
  const calls = { commit: 0, create: 0 };
  const definition = memory();
  let isBroken = false;
  const fails = <T>(name: keyof typeof calls, call: () => Promise<T>): Promise<T> => {
    if (!isBroken) return call();
    calls[name] += 1;
    return Promise.reject(new HoldfastError("commit-unknown", "the disk is broken"));
  };
  const store: StoreDefinition = {
    ...definition,
    async open(deps) {
      const opened = await definition.open(deps);
      return {
        ...opened,
        commit: (commit) => fails("commit", () => opened.commit(commit)),
        create: (birth) => fails("create", () => opened.create(birth)),
      };
    },
  };
  const teller = agent({ ...anAgentWith(), model: aModelThat(says("Done.")).model });
  const logger = { warn: () => undefined, note: () => undefined };
  const runtime = await createRuntime({ agents: [teller], store, logger, closeGraceMs: 100 });
  await runtime.start(teller, "go", { startAt: Date.now() + 50 });
  isBroken = true;
  const refused = expect(runtime.start(teller, "go")).rejects.toThrow("the disk is broken");
  await delay(500);
  expect(calls.commit).toBeGreaterThan(0);
  await runtime.close();
  await refused;
  expect(Math.max(calls.commit, calls.create)).toBeLessThan(20);
});
