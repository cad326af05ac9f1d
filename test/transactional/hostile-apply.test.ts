/** What an `apply` may do wrong: its call fails, nothing of it is kept, and the run goes on. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import {
  aClerk,
  aPostgresPlace,
  aSqlitePlace,
  bookOnPostgres,
  bookOnSqlite,
  expectKeptTogether,
  type Place,
  type PostgresApply,
  patience,
  type SqliteApply,
} from "./bookings.ts";

interface Wrong<Apply> {
  /** Statements before the run. */
  readonly tables?: (place: Place) => string;
  readonly apply: (place: Place) => Apply;
  readonly says: RegExp;
}

/** Not a Promise: it does something only when somebody asks for its value, as the queries of many builders do. */
function lazily(act: () => unknown): PromiseLike<never> {
  return {
    // biome-ignore lint/suspicious/noThenProperty: this is what a query builder looks like
    then: (resolve, reject) =>
      Promise.resolve()
        .then(act)
        .then(resolve as () => never, reject),
  };
}

const onSqlite: Record<string, Wrong<SqliteApply>> = {
  "T1 an async apply that wrote before its first await": {
    apply:
      () =>
      async (tx, { n }, { callId }) => {
        tx.run("INSERT INTO bookings VALUES (?, ?)", callId, n);
        await undefined;
        tx.run("INSERT INTO bookings VALUES (?, ?)", callId, n);
      },
    says: /must be synchronous/,
  },
  "T1 a thenable that is no Promise": {
    apply:
      () =>
      (tx, { n }, { callId }) => {
        tx.run("INSERT INTO bookings VALUES (?, ?)", callId, n);
        return lazily(() => "booked");
      },
    says: /must be synchronous/,
  },
  "T4 two statements in one": {
    apply:
      () =>
      (tx, { n }, { callId }) => {
        tx.run("INSERT INTO bookings VALUES (?, ?); INSERT INTO bookings VALUES ('other', 1)", callId, n);
      },
    says: /one statement/,
  },
  "T5 rows that COMMIT refuses": {
    tables: () => "CREATE TABLE seats (n integer REFERENCES trains (n) DEFERRABLE INITIALLY DEFERRED)",
    apply:
      () =>
      (tx, { n }, { callId }) => {
        tx.run("CREATE TABLE IF NOT EXISTS trains (n integer PRIMARY KEY)");
        tx.run("INSERT INTO bookings VALUES (?, ?)", callId, n);
        tx.run("INSERT INTO seats VALUES (7)");
      },
    says: /FOREIGN KEY/,
  },
  "T6 a connection of its own that finds the file busy": {
    apply:
      (place) =>
      (tx, { n }, { callId }) => {
        tx.run("INSERT INTO bookings VALUES (?, ?)", callId, n);
        using own = new DatabaseSync((place as Place & { file: string }).file);
        own.exec("INSERT INTO bookings VALUES ('outside', 1)");
      },
    says: /locked/,
  },
};

for (const sql of ["ATTACH ':memory:' AS other", "-- x\nPRAGMA query_only = 1", "detach other"]) {
  onSqlite[`T5 ${JSON.stringify(sql)}`] = {
    apply:
      () =>
      (tx, { n }, { callId }) => {
        tx.run("INSERT INTO bookings VALUES (?, ?)", callId, n);
        tx.run(sql);
      },
    says: /must not change the store's connection/,
  };
}

describe("on SQLite", () => {
  for (const [what, { apply, tables, says }] of Object.entries(onSqlite)) {
    test(`${what}: undone, and the model reads why`, async () => {
      const place = await aSqlitePlace();
      if (tables) await place.ask(tables(place));
      const { runtime, clerk } = await aClerk(place, bookOnSqlite(apply(place)));
      const run = await runtime.start(clerk, "Book.");
      expect(await run.result(patience())).toMatchObject({ outcome: "completed" });
      const results = await expectKeptTogether(place);
      expect(results).toMatchObject([{ result: { code: "tool-failed", message: expect.stringMatching(says) } }]);
    });
  }
});

const onPostgres: Record<string, Wrong<PostgresApply>> = {
  "X2 a synchronous throw": {
    apply: () => () => {
      throw new TypeError("x is not a function");
    },
    says: /x is not a function/,
  },
  "T4 a value that cannot be sent": {
    apply:
      ({ bookings }) =>
      async (tx, _, { callId }) => {
        const circle: Record<string, unknown> = {};
        circle.self = circle;
        await tx.query(`INSERT INTO ${bookings} VALUES ($1, $2)`, [callId, 1]);
        await tx.query(`INSERT INTO ${bookings} VALUES ($1, $2)`, [circle, 1]);
      },
    says: /circular/,
  },
  "T5 rows that COMMIT refuses, by a foreign key": {
    tables: ({ bookings }) => `CREATE TABLE ${bookings}_trains (n integer PRIMARY KEY);
      CREATE TABLE ${bookings}_seats (n integer REFERENCES ${bookings}_trains DEFERRABLE INITIALLY DEFERRED)`,
    apply:
      ({ bookings }) =>
      async (tx, { n }, { callId }) => {
        await tx.query(`INSERT INTO ${bookings} VALUES ($1, $2)`, [callId, n]);
        await tx.query(`INSERT INTO ${bookings}_seats VALUES (7)`);
      },
    says: /foreign key/,
  },
  "T5 rows that COMMIT refuses, by a unique key": {
    tables: ({ bookings }) => `CREATE TABLE ${bookings}_trains (n integer PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)`,
    apply:
      ({ bookings }) =>
      async (tx, { n }, { callId }) => {
        await tx.query(`INSERT INTO ${bookings} VALUES ($1, $2)`, [callId, n]);
        await tx.query(`INSERT INTO ${bookings}_trains VALUES (7), (7)`);
      },
    says: /unique/,
  },
};

const leftovers = ["SET LOCAL ROLE nobody", "RESET ALL", "/* */ set\n session statement_timeout = 1", "LISTEN x"];
for (const sql of ["SET ROLE nobody", ...leftovers, "-- \rCOMMIT"]) {
  onPostgres[`${sql.includes("COMMIT") ? "T3" : "T7"} ${JSON.stringify(sql)}`] = {
    apply:
      ({ bookings }) =>
      async (tx, { n }, { callId }) => {
        await tx.query(`INSERT INTO ${bookings} VALUES ($1, $2)`, [callId, n]);
        await tx.query("SET LOCAL lock_timeout = 1000");
        await tx.query(sql);
      },
    says: /must not (outlive|end|change)/,
  };
}

describe("on Postgres", () => {
  for (const [what, { apply, tables, says }] of Object.entries(onPostgres)) {
    test(`${what}: undone, and the model reads why`, async () => {
      const place = await aPostgresPlace();
      if (tables) await place.ask(tables(place));
      const { runtime, clerk } = await aClerk(place, bookOnPostgres(apply(place)));
      const run = await runtime.start(clerk, "Book.");
      expect(await run.result(patience())).toMatchObject({ outcome: "completed" });
      const results = await expectKeptTogether(place);
      expect(results).toMatchObject([{ result: { code: "tool-failed", message: expect.stringMatching(says) } }]);
    });
  }

  test("T7 what slips through stays no longer than the transaction", async () => {
    const place = await aPostgresPlace({ connections: 1 });
    const seen: unknown[] = [];
    const book = bookOnPostgres(async (tx, { n }, { callId }) => {
      const look = "SELECT current_setting('synchronous_commit') AS mode, count(*)::int AS locks FROM pg_locks";
      seen.push((await tx.query(`${look} WHERE pid = pg_backend_pid() AND objid = 4711`)).rows[0]);
      await tx.query("SELECT set_config('synchronous_commit', 'off', false), pg_advisory_lock(4711)");
      await tx.query(`INSERT INTO ${place.bookings} VALUES ($1, $2)`, [callId, n]);
    });
    const { runtime, clerk } = await aClerk(place, book);
    for (const thread of ["one", "two", "three"]) {
      expect(await (await runtime.start(clerk, "Book.", { thread })).result(patience())).toMatchObject({
        outcome: "completed",
      });
    }
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(new Set(seen.map((row) => JSON.stringify(row)))).toEqual(new Set(['{"mode":"on","locks":0}']));
  });

  test("X2 a thenable that is no Promise is awaited", async () => {
    const place = await aPostgresPlace();
    const book = bookOnPostgres((tx, { n }, { callId }) =>
      lazily(async () => (await tx.query(`INSERT INTO ${place.bookings} VALUES ($1, $2)`, [callId, n])).rowCount),
    );
    const { runtime, clerk } = await aClerk(place, book);
    const run = await runtime.start(clerk, "Book.");
    expect(await run.result(patience())).toMatchObject({ outcome: "completed" });
    expect(await expectKeptTogether(place)).toMatchObject([{ result: { kind: "value", value: 1 } }]);
  });
});
