import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { InputId, MessageId } from "../../src/domain/ids.ts";
import { memory } from "../../src/index.ts";
import type { CommitAnswer, StoreDefinition } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { pooledStore } from "../postgres/pooled-store.ts";
import { type Heard, type Moment, openStage, type Say, type Staging } from "./outside-fact.ts";
import { acting, answerAll, begin, calling, clerk, key, scenario } from "./scenarios/pieces.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-outside-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const pooled = pooledStore();
afterAll(async () => (await pooled).close());

interface Place {
  readonly open: () => StoreDefinition | Promise<StoreDefinition>;
  /** One moment of so many is played. */
  readonly every: number;
}

const stores: Readonly<Record<string, Place>> = {
  memory: { open: memory, every: 1 },
  sqlite: {
    open: () => {
      files += 1;
      return sqlite(join(folder, `${files}.db`), { durability: "normal" });
    },
    every: 1,
  },
  // A play takes long there, see matrix-postgres.test.ts.
  postgres: { open: freshPostgres, every: process.env.HOLDFAST_CRASH_ALL === "1" ? 1 : 5 },
};

async function freshPostgres(): Promise<StoreDefinition> {
  const store = await pooled;
  await store.empty(); // the plays of every test have the same scopes
  return store;
}

/** Two steps and a tool; should something come in at the very end, the model has one more thing to say. */
const talking = scenario({
  name: "talking",
  agents: (world) => [
    clerk({
      answers: [calling("refund"), { text: "Refunded.", pieces: 3 }, "And that, too."],
      tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: async () => false })],
    }),
  ],
});

/** A question is open while two other calls are in flight, one of them long enough for its lease to be renewed. */
const asking = scenario({
  name: "asking",
  agents: (world) => [
    clerk({
      answers: [calling("charge", "refund", "wire"), "All three."],
      tools: [
        acting(world, { name: "charge", effect: "once", needsApproval: true }),
        acting(world, { name: "refund", effect: "idempotent", needsApproval: async () => false }),
        acting(world, { name: "wire", effect: "once", reconciles: true, timeoutMs: 25_000, after: () => world.hang() }),
      ],
    }),
  ],
  script: async (context) => {
    const run = await begin(context);
    await answerAll(run, (ticket) => (ticket.kind === "approval" ? ticket.approve(key(ticket)) : undefined));
  },
});

const anInput: Say = async () => ({
  fact: {
    type: "input-received",
    input: "psst" as InputId,
    message: {
      id: "psst" as MessageId,
      role: "user",
      parts: [{ type: "text", text: "Psst." }],
      visibility: "all",
    },
    by: "outside",
  },
});

const aCancel: Say = async () => ({ fact: { type: "cancel-requested", by: "outside" } });

const aDecision: Say = async ({ store, scope, run }) => {
  const [row] = await store.tickets({ scope, run, status: "open", kind: "approval", limit: 1 });
  if (!row) return undefined;
  const { id: ticket, hash } = row.ticket;
  return {
    fact: { type: "ticket-decided", ticket, decision: { kind: "approve" }, by: "outside", key: "outside" },
    hash,
  };
};

interface EveryAwait extends Staging {
  readonly every?: number;
  readonly check: (heard: Heard, uncut: Heard) => void;
}

interface Taken {
  /** How often there was something to post and a run to take it. */
  readonly taken: number;
  /** How often a commit or release was behind what was posted. */
  readonly behind: number;
  readonly problems: readonly string[];
}

/** Posts at every port call, before it and after it. */
async function atEveryAwait({ check, every = 1, ...staging }: EveryAwait): Promise<Taken> {
  const stage = await openStage(staging);
  let taken = 0;
  let behind = 0;
  const problems: string[] = [];
  try {
    const uncut = await stage.perform(undefined);
    expect(uncut.problems).toEqual([]);
    const moments = uncut.played.calls.flatMap((_, at): Moment[] => [
      { at, when: "before" },
      { at, when: "after" },
    ]);
    for (const moment of moments.filter((_, index) => index % every === 0)) {
      const heard = await stage.perform(moment);
      const name = `${moment.when} ${uncut.played.calls[moment.at]?.label} (call ${moment.at})`;
      problems.push(...heard.problems.map((problem) => `${name}: ${problem}`));
      if (heard.posted?.kind !== "posted") continue;
      taken += 1;
      behind += heard.behind;
      check(heard, uncut);
    }
    return { taken, behind, problems };
  } finally {
    await stage.close();
  }
}

describe.each(Object.entries(stores))("on %s", (name, { open, every }) => {
  test("an input from outside at every await is read once, and the run goes on under the same claim", async () => {
    const check = ({ played }: Heard): void => {
      const [story] = played.stories;
      expect(story?.outcome).toBe("completed");
      expect(story?.transcript.filter((line) => line === "user: Psst.")).toHaveLength(1);
      expect(played.effects).toHaveLength(1);
      expect(story?.row.epoch).toBe(1);
    };
    const posting = { scenario: talking, say: anInput, store: await open(), check, every };
    const { taken, behind, problems } = await atEveryAwait(posting);
    console.log(`${name}: ${taken} inputs taken, ${behind} answers behind`);
    expect(problems).toEqual([]);
    expect(taken).toBeGreaterThanOrEqual(Math.floor(58 / every));
    expect(behind).toBeGreaterThanOrEqual(1);
  });

  test("a cancel from outside at every await cancels, whatever the run was about to do", async () => {
    const check = ({ played }: Heard): void => {
      const [story] = played.stories;
      expect(story?.outcome).toBe("cancelled");
      expect(story?.row.epoch).toBe(1);
      expect(played.effects.length).toBeLessThanOrEqual(1);
    };
    const posting = { scenario: talking, say: aCancel, store: await open(), check, every };
    const { taken, behind, problems } = await atEveryAwait(posting);
    console.log(`${name}: ${taken} cancels taken, ${behind} answers behind`);
    expect(problems).toEqual([]);
    expect(taken).toBeGreaterThanOrEqual(Math.floor(58 / every));
    expect(behind).toBeGreaterThanOrEqual(1);
  });

  test("a decision from outside at every await settles its ticket once, and disturbs no other call", async () => {
    const check = ({ played }: Heard, uncut: Heard): void => {
      const [story] = played.stories;
      expect(story?.transcript).toEqual(uncut.played.stories[0]?.transcript);
      const decided = story?.entries.filter((entry) => entry.type === "ticket-decided");
      expect(decided).toMatchObject([{ by: "outside", decision: { kind: "approve" } }]);
      expect(played.effects.map((effect) => effect.tool).sort()).toEqual(["charge", "refund", "wire"]);
    };
    const posting = { scenario: asking, say: aDecision, store: await open(), check, every };
    const { taken, behind, problems } = await atEveryAwait(posting);
    console.log(`${name}: ${taken} decisions taken, ${behind} answers behind`);
    expect(problems).toEqual([]);
    expect(taken).toBeGreaterThanOrEqual(Math.floor(40 / every));
    expect(behind).toBeGreaterThanOrEqual(1);
  });
});

test("a store that says fenced where it should say behind is caught", async () => {
  const confused: Intercept = async (call, proceed) => {
    const answer = await proceed();
    const isBehind = call.method === "commit" && (answer as CommitAnswer).kind === "behind";
    return isBehind ? ({ kind: "fenced" } as typeof answer) : answer;
  };
  const confusion = { scenario: talking, say: anInput, store: memory(), fault: confused, check: () => undefined };
  const { problems } = await atEveryAwait(confusion);
  expect(problems.some((problem) => problem.includes("fenced while its epoch is current"))).toBe(true);
});
