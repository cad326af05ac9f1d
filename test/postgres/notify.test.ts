/** Hints between processes: at once, gathered, and never more than hints. */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createPostgresNotifyBus } from "../../src/buses/postgres-notify/bus.ts";
import { createLine } from "../../src/buses/postgres-notify/line.ts";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import { nodeClock } from "../../src/platform/node-clock.ts";
import type { Bus, Hint } from "../../src/ports/bus.ts";
import { stepped } from "../../src/testing/conformance/store-fixtures.ts";
import { query, schemaName, serverUrl } from "./shared-server.ts";

/** pg complains once when a second query is given to a connection before the first is answered. */
const complaints: string[] = [];
process.on("warning", ({ name, message }) => {
  if (name === "DeprecationWarning") complaints.push(message);
});
afterAll(() => expect(complaints).toEqual([]));

const quiet = { warn: () => undefined, note: () => undefined };

function hint(run: string, seq: number): Hint {
  return { scope: "a" as Scope, run: run as RunId, seq };
}

interface Heard {
  readonly bus: Bus;
  readonly hints: Hint[];
}

function listening(url: string, schema: string): Heard {
  const bus = createPostgresNotifyBus({ url, schema }, { clock: nodeClock, logger: quiet });
  onTestFinished(() => bus.close());
  const hints: Hint[] = [];
  bus.subscribe((each) => void hints.push(each));
  return { bus, hints };
}

async function until(isSo: () => boolean, ms: number = 10_000): Promise<void> {
  for (const end = Date.now() + ms; !isSo(); await delay(5)) if (Date.now() > end) throw new Error("it did not happen");
}

/** Both lines are up when each has heard the other. */
async function pair(url: string, schema: string): Promise<readonly [Heard, Heard]> {
  const both = [listening(url, schema), listening(url, schema)] as const;
  const [one, two] = both;
  await until(() => {
    one.bus.publish(hint("hello", 1)).catch(() => undefined);
    two.bus.publish(hint("hello-too", 1)).catch(() => undefined);
    return one.hints.some(({ run }) => run === "hello-too") && two.hints.some(({ run }) => run === "hello");
  });
  await delay(60);
  for (const { hints } of both) hints.length = 0;
  return both;
}

test("a listener here gets the entries at once; one elsewhere gets ids and seq, soon, and nobody hears himself twice", async () => {
  const [one, two] = await pair(await serverUrl(), schemaName());
  const entry = { ...stepped(1), seq: 7, at: 0, epoch: 1 };
  const since = performance.now();
  await one.bus.publish({ ...hint("r1", 7), entries: [entry] });
  expect(one.hints).toEqual([{ ...hint("r1", 7), entries: [entry] }]);
  await until(() => two.hints.length > 0);
  expect(performance.now() - since).toBeLessThan(1_000);
  await delay(50);
  expect(two.hints).toEqual([hint("r1", 7)]);
  expect(one.hints).toHaveLength(1);
});

test("a bus that is closed while it connects is closed, and so is its connection", async () => {
  const url = new URL(await serverUrl());
  const name = schemaName();
  url.searchParams.set("application_name", name);
  await createPostgresNotifyBus({ url: url.href, schema: name }, { clock: nodeClock, logger: quiet }).close();
  const sql = "SELECT pid FROM pg_stat_activity WHERE application_name = $1";
  for (let left = 1; left > 0; await delay(5)) left = (await query(await serverUrl(), sql, [name])).length;
});

test("N2 a thousand hints of ten runs become a few, and the newest seq of each arrives", async () => {
  const [one, two] = await pair(await serverUrl(), schemaName());
  for (let n = 0; n < 1_000; n += 1) {
    await one.bus.publish(hint(`r${n % 10}`, n));
    if (n % 100 === 0) await delay(1);
  }
  await until(() =>
    Array.from({ length: 10 }, (_, n) => two.hints.some((each) => each.run === `r${n}` && each.seq === 990 + n)).every(
      Boolean,
    ),
  );
  expect(two.hints.length).toBeLessThan(200);
});

test("hints of more runs than fit into one NOTIFY all arrive, whatever their ids", async () => {
  const [one, two] = await pair(await serverUrl(), schemaName());
  const runs = Array.from({ length: 300 }, (_, n) => `${"ü'\"\\".repeat(60)}-${n}`);
  for (const run of runs) await one.bus.publish(hint(run, 1));
  await until(() => new Set(two.hints.map(({ run }) => run)).size === runs.length);
});

test("other schemas hear nothing", async () => {
  const url = await serverUrl();
  const [one] = await pair(url, schemaName());
  const other = listening(url, schemaName());
  await delay(300);
  await one.bus.publish(hint("r1", 1));
  await delay(200);
  expect(other.hints).toEqual([]);
});

test("N3 a line that is cut comes back, a listener that throws disturbs nobody, and rubbish is not heard", {
  timeout: 60_000,
}, async () => {
  const url = await serverUrl();
  const schema = schemaName();
  const [one, two] = await pair(`${url}?application_name=${schema}`, schema);
  two.bus.subscribe(() => {
    throw new Error("a listener threw");
  });
  await query(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [schema]);
  let seq = 1;
  await until(() => {
    seq += 1;
    one.bus.publish(hint("r1", seq)).catch(() => undefined);
    return two.hints.length > 0;
  }, 30_000);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const before = two.hints.length;
  for (const payload of ["", "{", "[]", '["x",1,[1,2,3],["a"],null]', "nothing"]) {
    await client.query("SELECT pg_notify($1, $2)", [`holdfast_${schema}`, payload]);
  }
  await client.end();
  await delay(100);
  expect(two.hints.slice(before).filter(({ run }) => run !== "r1")).toEqual([]);
});

test("without a server there are only hints in this process, and close ends at once", async () => {
  const { bus, hints } = listening("postgres://nobody@127.0.0.1:1/db", "s");
  await bus.publish(hint("r1", 1));
  expect(hints).toHaveLength(1);
  const since = performance.now();
  await bus.close();
  expect(performance.now() - since).toBeLessThan(2_000);
});

test("what is sent while the line is still sending waits for its turn", async () => {
  const heard: string[] = [];
  const listeners = { logger: quiet, hear: (payload: string) => void heard.push(payload), ready: () => undefined };
  const line = createLine({ url: await serverUrl(), schema: schemaName() }, listeners);
  onTestFinished(() => line.close());
  await until(() => line.isReady());
  const sent = await Promise.all(["one", "two", "three"].map((payload) => line.send([payload])));
  expect(sent).toEqual([true, true, true]);
  await until(() => heard.length === 3);
  expect(heard).toEqual(["one", "two", "three"]);
});
