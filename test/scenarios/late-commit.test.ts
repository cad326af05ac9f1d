/** C2: a commit whose answer was lost may still be under way, and become visible only when it is tried again. */
import { expect, test } from "vitest";
import { z } from "zod";
import { HoldfastError, memory, tool } from "../../src/index.ts";
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
