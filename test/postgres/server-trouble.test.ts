/** A server that is away, refuses, or has no room: asked with measure, said clearly, and work goes on by itself. */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/ports/store.ts";
import { postgres } from "../../src/postgres.ts";
import { postgresStore, postgresWithProbe } from "../../src/stores/postgres/postgres.ts";
import { birthOf, headOf, keyOf, throwsCode } from "../../src/testing/conformance/store-fixtures.ts";
import { findBroken, workThrough } from "./clerks.ts";
import { createTestServer, type TestServer } from "./embedded.ts";
import { createProxy } from "./proxy.ts";
import { opened, query, schemaName } from "./shared-server.ts";
import { mountSmallDisk } from "./small-disk.ts";

let server: TestServer;

beforeAll(async () => {
  server = await createTestServer(["-c", "max_connections=30"]);
});
afterAll(() => server.remove());

async function whole(schema: string): Promise<void> {
  expect(await query(server.url, findBroken.replaceAll("hf.", `"${schema}".`))).toEqual([]);
}

test("G2 a server that is away for seconds is asked a few times, and every run ends once when it is back", {
  timeout: 60_000,
}, async () => {
  const proxy = await createProxy(server.url, () => "pass");
  const schema = schemaName();
  let perSecond = 0;
  await workThrough({
    store: postgres({ url: proxy.url, schema, notifyUrl: server.url }),
    runs: 60,
    steps: 12,
    meanwhile: async () => {
      await delay(500);
      await server.stop();
      await delay(1_000); // everyone has noticed
      const before = proxy.connections();
      await delay(2_000);
      perSecond = (proxy.connections() - before) / 2;
      await server.start();
    },
  });
  expect(perSecond).toBeGreaterThan(0);
  expect(perSecond).toBeLessThan(4); // sixty runs, one way to the server
  await whole(schema);
});

/** Takes every connection that is left, reserved ones too. */
async function takeConnections(): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => undefined);
    try {
      await client.connect();
    } catch {
      return taken;
    }
    taken.push(client);
  }
}

test("a server whose connections others hold is said to be so; when they let go, the same store works", async () => {
  const schema = schemaName();
  const url = `${server.url}?application_name=${schema}`;
  const store = await opened(postgresStore({ url, schema, connections: 4 }));
  await store.create(birthOf("r0"));
  const taken = await takeConnections();
  onTestFinished(async () => void (await Promise.all(taken.map((client) => client.end()))));
  const ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
  await taken[0]?.query(ours, [schema]);
  await delay(100);
  taken.push(...(await takeConnections()));
  const refused = await store.create(birthOf("r1")).catch((cause: unknown) => cause);
  expect(refused).toMatchObject({
    code: "store-busy",
    message: expect.stringMatching(
      /no connection left for this process \(.*too many clients.*\); raise max_connections/,
    ),
  });
  await throwsCode(store.run(keyOf("r0")), "store-busy");
  await Promise.all(taken.map((client) => client.end()));
  await delay(1_100);
  expect((await store.create(birthOf("r1"))).kind).toBe("created");
});

test("42501 a right that is taken away while runs are worked on is named, and given back it is enough", async () => {
  const schema = schemaName();
  const store = await opened(postgresStore({ url: server.url, schema }));
  const role = `w_${schema}`;
  await query(server.url, `CREATE ROLE "${role}" LOGIN PASSWORD 'x' IN ROLE pg_read_all_data`);
  const grant = `"${schema}" TO "${role}"`;
  await query(
    server.url,
    `GRANT USAGE ON SCHEMA ${grant}; GRANT ALL ON ALL TABLES IN SCHEMA ${grant};
    GRANT ALL ON ALL SEQUENCES IN SCHEMA ${grant}`,
  );
  const url = server.url.replace("postgres:secret", `${role}:x`);
  const worker = await opened(postgresStore({ url, schema }));
  await worker.create(birthOf("r0"));
  await query(server.url, `REVOKE INSERT ON "${schema}".journal FROM "${role}"`);
  const refused = await worker.create(birthOf("r1")).catch((cause: unknown) => cause);
  expect(refused).toMatchObject({
    code: "store-unavailable",
    message: expect.stringMatching(/a right was taken from the role \(permission denied for table journal\); grant it/),
  });
  expect(await headOf(worker, keyOf("r0"))).toBe(1);
  await query(server.url, `GRANT INSERT ON "${schema}".journal TO "${role}"`);
  expect((await worker.create(birthOf("r1"))).kind).toBe("created");
  expect(await headOf(store, keyOf("r1"))).toBe(1);
});

const disk = mountSmallDisk(48);
afterAll(() => disk?.unmount());

/** Tables of this schema lie on the small disk. */
async function storeOnSmallDisk(): Promise<{ readonly url: string; readonly schema: string }> {
  await query(server.url, `CREATE TABLESPACE small LOCATION '${disk?.path}'`);
  return { url: `${server.url}?options=-c%20default_tablespace%3Dsmall`, schema: schemaName() };
}

async function isFull(store: Store, name: string): Promise<boolean> {
  const answer = await store.create(birthOf(name)).catch((cause: unknown) => cause as { code?: string });
  if ("code" in answer) expect(answer.code).toBe("store-full");
  return "code" in answer;
}

test.skipIf(!disk)(
  "a full disk (a real one; needs the right to mount): writes say so, reads go on, and space is enough",
  {
    timeout: 60_000,
  },
  async () => {
    const { url, schema } = await storeOnSmallDisk();
    let statements = 0;
    const before = (): void => {
      statements += 1;
    };
    let perSecond = 0;
    await workThrough({
      store: postgresWithProbe({ url, schema }, { before }),
      runs: 40,
      steps: 20,
      meanwhile: async () => {
        const other = await opened(postgresStore({ url, schema }));
        await other.create(birthOf("r0", { agent: "nobody" }));
        const started = `SELECT count(*)::int AS n FROM "${schema}".runs WHERE agent = 'clerk'`;
        while ((await query<{ n: number }>(server.url, started))[0]?.n !== 40) await delay(20); // a start would be refused
        disk?.fill();
        for (let n = 0; !(await isFull(other, `x${n}`)); n += 1) expect(n).toBeLessThan(5_000);
        expect(await headOf(other, keyOf("r0"))).toBe(1);
        await delay(1_500);
        const counted = statements;
        await delay(2_000);
        perSecond = (statements - counted) / 2;
        disk?.free();
        expect(await isFull(other, "later")).toBe(false);
      },
    });
    expect(perSecond).toBeLessThan(40 * 10); // forty runs that try again every two seconds, a few statements each
    await whole(schema);
  },
);
