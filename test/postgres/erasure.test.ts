/** H3: what is erased is gone from every table, and every table has been thought of. */
import { expect, test } from "vitest";
import { tablesOfRun } from "../../src/stores/postgres/erasure.ts";
import {
  birthOf,
  changed,
  citing,
  claimOne,
  contentOf,
  decisionOn,
  deliveryTo,
  ended,
  inputTo,
  keyOf,
  opened as openedTicket,
  said,
  started,
  threadKey,
  ticketOf,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { freshStore, opened, query, type TestStore } from "./shared-server.ts";

/** They outlive runs and threads: no row of theirs belongs to one. */
const kept = ["migrations", "manifests", "content", "erasures", "workers"];
const erased = ["runs", "threads", "thread_state", "start_keys", ...tablesOfRun];

async function tablesIn({ url, schema }: TestStore): Promise<readonly string[]> {
  const sql = "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1";
  return (await query<{ name: string }>(url, sql, [schema])).map(({ name }) => name).sort();
}

/** Those of them that have rows. */
async function filled({ url, schema }: TestStore, tables: readonly string[]): Promise<readonly string[]> {
  const counts = tables.map((name) => `SELECT '${name}' AS name, count(*)::int AS n FROM "${schema}".${name}`);
  const rows = await query<{ name: string; n: number }>(url, counts.join(" UNION ALL "));
  return rows.filter(({ n }) => n > 0).map(({ name }) => name);
}

test("H3 of a deleted thread no row is left in any table", async () => {
  const fresh = await freshStore();
  const store = await opened(fresh.definition);
  expect(await tablesIn(fresh)).toEqual([...kept, ...erased].sort());
  const ticket = ticketOf("r1", 1);
  await store.create(birthOf("r1", { thread: "t" }));
  const claim = await claimOne(store);
  await write(store, claim, { entries: [started(0), said("secret"), openedTicket(ticket)], after: 1 });
  await store.post({ ...decisionOn(ticket, "k"), start: { key: "s", requestHash: "h" } });
  await store.post(inputTo("r1", "i1"));
  await store.saveSnapshot(keyOf("r1"), { seq: 1, foldVersion: 1, state: "secret" });
  const content = contentOf("a large secret");
  await store.putContent(content);
  const caused = { deliveries: [deliveryTo("other", "i2")] };
  await write(store, claim, {
    entries: [changed("k", "secret"), citing(content), ended],
    after: 6,
    position: 1,
    ...caused,
  });
  await store.addEvidence({ ...keyOf("r1"), kind: "late-result", body: "secret" });
  expect(await filled(fresh, erased)).toEqual(erased);
  await store.deleteThread({ ...threadKey("t"), children: "cascade" });
  expect(await filled(fresh, erased)).toEqual([]);
});
