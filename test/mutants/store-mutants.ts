/** Mutants that need no more than the Store interface. They sit inside the checks. */
import type { EntryBody } from "../../src/domain/entry.ts";
import type { Birth } from "../../src/ports/birth.ts";
import type { Commit, CommitAnswer, Release, Store } from "../../src/ports/store.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import type { Wrap } from "../../src/testing/sim/wrap.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import type { Mutant } from "./mutant.ts";

type Change = (store: Store) => Partial<Store>;

function inside(change: Change): Mutant["wrap"] {
  return {
    async store({ clock }) {
      const store = await memory().open({ clock, logger: silentLogger });
      return { ...store, ...change(store) };
    },
  };
}

function writes(type: EntryBody["type"], { entries }: Commit): boolean {
  return entries.some((entry) => entry.type === type);
}

/** Whoever comes is taken for the owner. */
const noFence: Change = (store) => {
  const asOwner = async <T extends Release>(asked: T): Promise<T> => {
    const row = await store.run(asked);
    return row ? { ...asked, epoch: row.epoch } : asked;
  };
  return {
    commit: async (asked) => store.commit(await asOwner(asked)),
    release: async (asked) => store.release(await asOwner(asked)),
  };
};

/** Facts that came in through the other door are taken for another owner. */
const behindIsFenced: Change = (store) => {
  const lie = (answer: CommitAnswer): CommitAnswer => (answer.kind === "behind" ? { kind: "fenced" } : answer);
  return {
    commit: async (asked) => lie(await store.commit(asked)),
    release: async (asked) => lie(await store.release(asked)),
  };
};

/** Commits with such an entry are written wherever the journal has got to. */
function atAnyHead(type: EntryBody["type"]): Change {
  return (store) => ({
    async commit(asked) {
      const row = writes(type, asked) ? await store.run(asked) : undefined;
      return store.commit(row && row.epoch === asked.epoch ? { ...asked, expectedSeq: row.head } : asked);
    },
  });
}

/** The run ends, and who should read what it has left is not born. */
const endsAlone: Change = (store) => ({
  commit: ({ successor: _successor, ...asked }) => store.commit(asked),
});

/** What was left is given to the successor twice. */
const leavesTwice: Change = (store) => ({
  commit: ({ successor, ...asked }) =>
    store.commit({ ...asked, ...(successor ? { successor: doubled(successor) } : {}) }),
});

function doubled(birth: Birth): Birth {
  const { entry } = birth;
  const { request } = entry;
  const input = [...entry.input, ...entry.input];
  const inputIds = [...request.inputIds, ...request.inputIds];
  return { ...birth, entry: { ...entry, input, request: { ...request, inputIds, inputCount: input.length } } };
}

/** What ends with a cancelled run is not named. */
const namesNothing: Change = (store) => ({
  commit: (asked) => store.commit({ ...asked, entries: asked.entries.map(unnamed) }),
});

function unnamed(entry: EntryBody): EntryBody {
  if (entry.type !== "run-ended") return entry;
  const { unread: _unread, ...rest } = entry;
  return rest;
}

/** Somebody cancels each run while its last commit is on the way. */
const cancelsAtTheEnd: Wrap = {
  ports: (ports) => ({
    ...ports,
    store: {
      ...ports.store,
      async commit(asked) {
        const { scope, run } = asked;
        const fact = { type: "cancel-requested", by: "somebody" } as const;
        if (writes("run-ended", asked)) await ports.store.post({ scope, run, fact, key: "at-the-end" });
        return ports.store.commit(asked);
      },
    },
  }),
};

export const storeMutants: readonly Mutant[] = [
  { name: "no fence", wrap: inside(noFence), caughtBy: "stale-epoch", within: 400 },
  { name: "behind treated as fenced", wrap: inside(behindIsFenced), caughtBy: "fenced-truth", within: 100 },
  {
    name: "run-waiting without expectedSeq",
    wrap: inside(atAnyHead("run-waiting")),
    caughtBy: "commit-below-head",
    within: 400,
  },
  {
    name: "finish over cancel",
    wrap: inside(atAnyHead("run-ended")),
    caughtBy: "end-over-cancel",
    among: cancelsAtTheEnd,
    within: 50,
  },
  { name: "an end without its successor", wrap: inside(endsAlone), caughtBy: "inputs-once", within: 600 },
  { name: "inputs left twice", wrap: inside(leavesTwice), caughtBy: "inputs-once", within: 600 },
  { name: "a cancel that names nothing", wrap: inside(namesNothing), caughtBy: "inputs-once", within: 600 },
];
