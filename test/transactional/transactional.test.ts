/** Transactional tools on both SQL stores: what `apply` wrote and the settlement of its call are kept together or not at all. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, createWorker, memory, ToolFailure } from "../../src/index.ts";
import { transactionalTool as postgresTool } from "../../src/postgres.ts";
import { sqlite, transactionalTool } from "../../src/sqlite.ts";
import { aModelThat, anAgentWith, callsTool, given, says } from "../../src/testing/story.ts";
import { freshStore, query } from "../postgres/shared-server.ts";

const input = z.object({ cents: z.number() });
const named = { name: "book", description: "Books", input, timeoutMs: 2_000 };

function aFile(): { readonly file: string; readonly rows: () => number } {
  const file = join(mkdtempSync(join(tmpdir(), "holdfast-transactional-")), "runs.db");
  const rows = (): number => {
    const db = new DatabaseSync(file);
    const found = db.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'bookings'").get() as { n: number };
    const { n } = found.n === 0 ? found : (db.prepare("SELECT count(*) AS n FROM bookings").get() as { n: number });
    db.close();
    return n;
  };
  return { file, rows };
}

const table = "CREATE TABLE IF NOT EXISTS bookings (call TEXT PRIMARY KEY, cents INTEGER)";

test("X1 on SQLite the rows of apply and the result of its call are there together", async () => {
  const { file, rows } = aFile();
  const book = transactionalTool({
    ...named,
    prepare: async ({ cents }) => ({ cents: cents * 2 }),
    apply: (tx, { cents }, { callId }) => {
      tx.run(table);
      tx.run("INSERT INTO bookings VALUES (?, ?)", callId, cents);
      return { booked: tx.get<{ cents: number }>("SELECT cents FROM bookings")?.cents ?? 0 };
    },
  });
  const model = aModelThat(callsTool("book", { cents: 3 }), says("Done."));
  await using story = await given(anAgentWith(book), model, { store: sqlite(file) });
  const run = await story.userSays("book");
  await story.expectReply(run, "Done.");
  expect(await story.results(run)).toEqual([{ kind: "value", value: { booked: 6 } }]);
  expect(rows()).toBe(1);
});

const failures: Record<string, { readonly throws: () => unknown; readonly message: RegExp }> = {
  "a ToolFailure": {
    throws: () => {
      throw new ToolFailure("no seats");
    },
    message: /no seats/,
  },
  "any other error": {
    throws: () => {
      throw new TypeError("x is not a function");
    },
    message: /x is not a function/,
  },
  "a result that cannot be stored": { throws: () => 10n, message: /cannot be stored.*undone/ },
  "a promise": { throws: () => Promise.resolve(1), message: /must be synchronous on SQLite/ },
};

for (const [what, { throws, message }] of Object.entries(failures)) {
  test(`X2 on SQLite ${what} undoes everything, and the model reads why`, async () => {
    const { file, rows } = aFile();
    const book = transactionalTool({
      ...named,
      apply: (tx, { cents }, { callId }) => {
        tx.run(table);
        tx.run("INSERT INTO bookings VALUES (?, ?)", callId, cents);
        return throws();
      },
    });
    const model = aModelThat(callsTool("book", { cents: 3 }), says("Done."));
    await using story = await given(anAgentWith(book), model, { store: sqlite(file) });
    const run = await story.userSays("book");
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toMatchObject([{ code: "tool-failed", message: expect.stringMatching(message) }]);
    expect(rows()).toBe(0);
  });
}

test("T3 a tool cannot end the store's transaction, nor use it afterwards", async () => {
  const { file, rows } = aFile();
  let kept: { run(sql: string): number } | undefined;
  const said: unknown[] = [];
  const book = transactionalTool({
    ...named,
    apply: (tx, { cents }, { callId }) => {
      kept = tx;
      tx.run(table);
      tx.run("INSERT INTO bookings VALUES (?, ?)", callId, cents);
      for (const sql of ["COMMIT", " -- now\n END", "/* x */ rollback", "SAVEPOINT a", "BEGIN"]) {
        try {
          tx.run(sql);
        } catch (cause) {
          said.push((cause as Error).message);
        }
      }
      return "booked";
    },
  });
  const model = aModelThat(callsTool("book", { cents: 3 }), says("Done."));
  await using story = await given(anAgentWith(book), model, { store: sqlite(file) });
  await story.expectReply(await story.userSays("book"), "Done.");
  expect(said).toHaveLength(5);
  expect(rows()).toBe(1);
  expect(() => kept?.run("DELETE FROM bookings")).toThrow(/is over/);
});

test("T3 a statement that makes SQLite roll back fails the call, also when apply hides it", async () => {
  const { file, rows } = aFile();
  const book = transactionalTool({
    ...named,
    apply: (tx, { cents }) => {
      tx.run(table);
      tx.run("INSERT INTO bookings VALUES ('a', ?)", cents);
      try {
        tx.run("INSERT OR ROLLBACK INTO bookings VALUES ('a', ?)", cents);
      } catch {
        // hidden on purpose
      }
      return "booked";
    },
  });
  const model = aModelThat(callsTool("book", { cents: 3 }), says("Done."));
  await using story = await given(anAgentWith(book), model, { store: sqlite(file) });
  const run = await story.userSays("book");
  await story.expectReply(run, "Done.");
  expect(await story.results(run)).toMatchObject([{ code: "tool-failed" }]);
  expect(rows()).toBe(0);
});

interface OnPostgres {
  readonly results: readonly unknown[];
  readonly rows: number;
}

type PostgresApply = Parameters<typeof postgresTool<typeof input, unknown>>[0]["apply"];

async function onPostgres(apply: (table: string) => PostgresApply, limits = {}): Promise<OnPostgres> {
  const { url, schema, definition } = await freshStore();
  const bookings = `${schema}.bookings`;
  await query(url, `CREATE SCHEMA ${schema}`);
  await definition
    .open({ clock: { now: Date.now, monotonic: () => performance.now(), sleep: async () => undefined }, logger: quiet })
    .then((store) => store.close());
  await query(url, `CREATE TABLE ${bookings} (call text PRIMARY KEY, cents integer)`);
  const book = postgresTool({ ...named, ...limits, apply: apply(bookings) });
  const model = aModelThat(callsTool("book", { cents: 3 }), says("Done."));
  await using story = await given(anAgentWith(book), model, { store: definition });
  const run = await story.userSays("book");
  await story.expectReply(run, "Done.");
  const [row] = await query<{ n: string }>(url, `SELECT count(*) AS n FROM ${bookings}`);
  return { results: await story.results(run), rows: Number(row?.n) };
}

const quiet = { warn: () => undefined, note: () => undefined };

test("X1 on Postgres the rows of apply and the result of its call are there together", async () => {
  const { results, rows } = await onPostgres((bookings) => async (tx, { cents }, { callId }) => {
    const { rowCount } = await tx.query(`INSERT INTO ${bookings} VALUES ($1, $2)`, [callId, cents]);
    return { rowCount };
  });
  expect(results).toEqual([{ kind: "value", value: { rowCount: 1 } }]);
  expect(rows).toBe(1);
});

const postgresFailures: Record<string, (bookings: string) => PostgresApply> = {
  "a throw": (bookings) => async (tx) => {
    await tx.query(`INSERT INTO ${bookings} VALUES ('a', 1)`);
    throw new ToolFailure("no seats");
  },
  "a unique violation": (bookings) => async (tx) => {
    await tx.query(`INSERT INTO ${bookings} VALUES ('a', 1)`);
    await tx.query(`INSERT INTO ${bookings} VALUES ('a', 1)`);
  },
  "an error that apply hides": (bookings) => async (tx) => {
    await tx.query(`INSERT INTO ${bookings} VALUES ('a', 1)`);
    await tx.query("SELECT 1/0").catch(() => undefined);
    return "booked";
  },
  "a statement that nobody awaits": (bookings) => async (tx) => {
    await tx.query(`INSERT INTO ${bookings} VALUES ('a', 1)`);
    tx.query("SELECT pg_sleep(0.2), 1/0").catch(() => undefined);
    return "booked";
  },
  COMMIT: (bookings) => async (tx) => {
    await tx.query(`INSERT INTO ${bookings} VALUES ('a', 1)`);
    await tx.query("COMMIT");
  },
  "COMMIT behind a semicolon": (bookings) => async (tx) => {
    await tx.query(`INSERT INTO ${bookings} VALUES ('a', 1); COMMIT`);
  },
};

for (const [what, apply] of Object.entries(postgresFailures)) {
  test(`X2 on Postgres ${what} undoes everything, and the call has failed`, async () => {
    const { results, rows } = await onPostgres(apply);
    expect(results).toMatchObject([{ kind: "error", code: "tool-failed" }]);
    expect(rows).toBe(0);
  });
}

test("T1 on Postgres a deadlock in apply is done again", async () => {
  let tries = 0;
  const { results, rows } = await onPostgres((bookings) => async (tx, _, { callId }) => {
    tries += 1;
    await tx.query(`INSERT INTO ${bookings} VALUES ($1, 1)`, [callId]);
    const raised = "DO $$ BEGIN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$";
    if (tries < 3) await tx.query(raised);
    return tries;
  });
  expect(results).toEqual([{ kind: "value", value: 3 }]);
  expect(rows).toBe(1);
});

test("L8 a store without transactions refuses the tool before anything runs", async () => {
  const book = transactionalTool({ ...named, apply: () => "booked" });
  const { model } = aModelThat(says("Done."));
  const clerk = agent({ name: "clerk", instructions: "Book.", tools: [book], model });
  for (const store of [memory(), (await freshStore()).definition]) {
    for (const create of [createRuntime, createWorker]) {
      const refused = create({ agents: [clerk], store }).then((made) => onTestFinished(() => made.close()));
      await expect(refused).rejects.toMatchObject({
        code: "invalid-options",
        problems: expect.arrayContaining([
          expect.stringContaining("tool book of agent clerk writes in a sqlite transaction"),
        ]),
      });
    }
  }
});

test("a transactional tool has no options of another class", () => {
  const wrong = { ...named, apply: () => 1, effect: "once", execute: () => 1, reconcile: 1 };
  expect(() => transactionalTool(wrong as never)).toThrow(/effect.*execute.*reconcile/s);
  expect(() => transactionalTool({ ...named } as never)).toThrow(/apply/);
});
