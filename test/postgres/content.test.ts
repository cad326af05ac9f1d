/** B5: a citation that is being committed and a collection never both succeed. An ordinary commit is one statement. */
import { expect, onTestFinished, test } from "vitest";
import { isHoldfastError } from "../../src/domain/errors.ts";
import type { Store } from "../../src/ports/store.ts";
import { postgresWithProbe } from "../../src/stores/postgres/postgres.ts";
import {
  birthOf,
  citing,
  claimOne,
  contentOf,
  scopeA,
  started,
  stepped,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { deps, freshStore, opened } from "./shared-server.ts";

const content = contentOf("large");
const everything = { scope: scopeA, olderThanMs: 0, limit: 9 };

interface Paused {
  /** Its next COMMIT stands still until `goOn`. */
  readonly store: Store;
  readonly reached: Promise<void>;
  readonly goOn: () => void;
  readonly statements: string[];
}

async function pausedStore(url: string, schema: string, isAt: (sql: string) => boolean): Promise<Paused> {
  const at = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const statements: string[] = [];
  const before = async (sql: string): Promise<void> => {
    statements.push(sql);
    if (!isAt(sql)) return;
    at.resolve();
    await gate.promise;
  };
  const store = await postgresWithProbe({ url, schema }, { before }).open(deps);
  onTestFinished(() => {
    gate.resolve();
    return store.close();
  });
  return { store, reached: at.promise, goOn: gate.resolve, statements };
}

test("content that an open transaction cites is not collected", async () => {
  const { url, schema, definition } = await freshStore({ time: "database" });
  const other = await opened(definition);
  let isArmed = false;
  const citer = await pausedStore(url, schema, (sql) => isArmed && sql === "COMMIT");
  await citer.store.create(birthOf("r1"));
  const claim = await claimOne(citer.store);
  await citer.store.putContent(content);
  isArmed = true;
  const written = write(citer.store, claim, { entries: [started(0), citing(content)], after: 1 });
  await citer.reached;
  expect(await other.collectContent(everything)).toEqual([]);
  citer.goOn();
  await written;
  expect(await other.collectContent(everything)).toEqual([]);
  expect(await other.content(content)).toBeDefined();
});

test("a citation that comes while its content is being collected is refused, and its run is as it was", async () => {
  const { url, schema, definition } = await freshStore({ time: "database" });
  const other = await opened(definition);
  await other.create(birthOf("r1"));
  const claim = await claimOne(other);
  await other.putContent(content);
  const collecting = await pausedStore(url, schema, (sql) => sql === "COMMIT");
  const collected = collecting.store.collectContent(everything);
  await collecting.reached;
  const cited = write(other, claim, { entries: [started(0), citing(content)], after: 1 });
  const refused = expect(cited).rejects.toSatisfy((cause) => isHoldfastError(cause, "content-not-found"));
  collecting.goOn();
  expect(await collected).toHaveLength(1);
  await refused;
  await write(other, claim, { entries: [started(0)], after: 1 });
});

test("a commit that causes and cites nothing is one statement", async () => {
  const { url, schema } = await freshStore({ time: "database" });
  const { store, statements } = await pausedStore(url, schema, () => false);
  await store.create(birthOf("r1"));
  const claim = await claimOne(store);
  const head = await write(store, claim, { entries: [started(0)], after: 1 });
  statements.length = 0;
  await write(store, claim, { entries: [stepped(1)], after: head, deliveries: [] });
  expect(statements).toHaveLength(1);
});
