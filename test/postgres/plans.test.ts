/** Hot paths find their rows through an index, whatever the tables hold. */
import { expect, onTestFinished, test } from "vitest";
import type { RunId, ThreadId, TicketId } from "../../src/domain/ids.ts";
import { inSchema } from "../../src/stores/postgres/database.ts";
import { postgresWithProbe } from "../../src/stores/postgres/postgres.ts";
import {
  birthOf,
  cancelOf,
  changed,
  citing,
  claimAll,
  contentOf,
  decisionOn,
  deliveryTo,
  ended,
  inputTo,
  keyOf,
  opened,
  said,
  saidByInput,
  scopeA,
  started,
  ticketOf,
  waiting,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { deps, freshStore, query } from "./shared-server.ts";

const count = Number(process.env.HOLDFAST_PLAN_RUNS ?? 20_000);

/** Half of them finished, half waiting for something that nobody posts; on threads of ten. */
const fill = `
INSERT INTO hf.threads (no, scope, id, created_at, updated_at, position, erased)
  SELECT 1000000 + n, 'a', 'old-' || n, 0, 0, 10, 0 FROM generate_series(1, ${count} / 10) AS n;
INSERT INTO hf.thread_state (thread, key, version, value)
  SELECT no, 'key-' || n, 1, '{}' FROM hf.threads, generate_series(1, 5) AS n;
INSERT INTO hf.runs (no, scope, id, thread, thread_id, agent, fingerprint, created_at, status, queued, epoch, head, crashes,
    start_key, turn, start_pos, placed, priority, ready, wake, ended_at)
  SELECT 1000000 + n, 'a', 'old-' || n, 1000001 + n / 10, 'old-' || 1 + n / 10, 'ann', 'print', 0,
    CASE WHEN n % 2 = 0 THEN 'done' ELSE 'waiting' END, false, 1, 2, 0, 'old-' || n, n, n % 10, n % 10 + 1, 0, 0,
    CASE WHEN n % 20 = 1 THEN 99999999999999 END, CASE WHEN n % 2 = 0 THEN n END
  FROM generate_series(1, ${count}) AS n;
INSERT INTO hf.start_keys (scope, key, run, request_hash) SELECT 'a', id, id, 'h' FROM hf.runs;
INSERT INTO hf.journal (at, scope, run, seq, n, time, pos, m, format, body)
  SELECT nextval('hf.positions'), 'a', no, seq, 1, 0, CASE WHEN seq = 2 THEN start_pos END, seq - 1, 1, '[]'
  FROM hf.runs, generate_series(1, 2) AS seq;
INSERT INTO hf.tickets (scope, id, run, root_run, thread_id, kind, agent, record, settlement)
  SELECT 'a', id, no, id, thread_id, 'approval', agent, '{}', CASE WHEN no % 4 = 0 THEN '{}' END FROM hf.runs;
INSERT INTO hf.outbox (run, seq, idx, scope, lane, due, attempts, body)
  SELECT no, 1, 0, 'a', 'run', 99999999999999, 0, '{}' FROM hf.runs WHERE no % 2 = 1;
INSERT INTO hf.content (scope, hash, time, media_type, body) SELECT 'a', id, no % 100, 'text/plain', '' FROM hf.runs;
INSERT INTO hf.content_refs (scope, hash, run, seq) SELECT 'a', id, no, 1 FROM hf.runs WHERE no % 100 <> 1;
INSERT INTO hf.post_keys (run, key, seq, time) SELECT no, 'k', 1, 0 FROM hf.runs;
INSERT INTO hf.inbox (run, input, seq, taken, replaced) SELECT no, 'i', 1, true, false FROM hf.runs;
`;

test(`with ${count} old runs no statement of a run's life, and no page, walks a table`, { timeout: 300_000 }, async ({
  skip,
}) => {
  const { url, schema } = await freshStore();
  const [version] = await query<{ v: number }>(url, "SELECT current_setting('server_version_num')::int AS v");
  skip((version?.v ?? 0) < 160_000, "EXPLAIN (GENERIC_PLAN) came with PostgreSQL 16");
  const statements = new Set<string>();
  const probe = { before: (sql: string) => void statements.add(sql) };
  const store = await postgresWithProbe({ url, schema }, probe).open(deps);
  onTestFinished(() => store.close());
  await query(url, inSchema(fill, schema));
  await query(url, "VACUUM ANALYZE");
  statements.clear();

  const ticket = ticketOf("r1", 1);
  await store.createThread({ scope: scopeA, thread: "t" as ThreadId, title: "T" });
  await store.create(birthOf("r1", { thread: "t" }));
  await store.create(birthOf("r2", { thread: "t" }));
  const [claim] = await claimAll(store);
  await store.renew({ ...keyOf("r1"), epoch: claim!.epoch, leaseMs: 60_000 });
  await store.post(inputTo("r1", "i1"));
  await write(store, claim!, { entries: [started(0), said("m")], after: 2 });
  await write(store, claim!, { entries: [saidByInput("i1", 2), opened(ticket), waiting], after: 4, position: 1 });
  await store.post(decisionOn(ticket, "k"));
  await store.release({ ...keyOf("r1"), epoch: claim!.epoch, expectedSeq: 8 });
  await store.create({ ...birthOf("r3", { thread: "t" }), whenBusy: "supersede" });
  await store.post(cancelOf("r2"));
  await store.saveSnapshot(keyOf("r1"), { seq: 1, foldVersion: 1, state: "s" });
  await store.addEvidence({ ...keyOf("r1"), kind: "late-result", body: null });
  const content = contentOf("large");
  await store.putContent(content);
  await store.content(content);
  const caused = { deliveries: [deliveryTo("r2", "i9"), deliveryTo("r2", "i8")] };
  await write(store, claim!, { entries: [changed("k", 1), citing(content), ended], after: 9, position: 2, ...caused });
  await store.threadState({ scope: scopeA, thread: "t" as ThreadId });
  await store.nextDelivery({ scope: scopeA });
  await store.deliveryScopes({ limit: 2 });
  const taken = await store.takeDeliveries({ scope: scopeA, leaseMs: 1_000, limit: 10 });
  await store.endDelivery({ ...taken[0]!, how: "put-off", delayMs: 1, error: "e" });
  await store.endDelivery({ ...taken[0]!, how: "dead", error: "e" });
  await store.endDelivery({ ...taken[1]!, how: "delivered" });
  await store.deliveries(keyOf("r1"));
  expect(await store.prune({ scope: scopeA, ended: { before: 5 }, limit: 10 })).toEqual(["old-2", "old-4"]);
  expect(await store.collectContent({ scope: scopeA, olderThanMs: 0, limit: 2 })).toHaveLength(2);
  await store.nextDue({ scope: scopeA, agents: ["ann"] });
  await store.dueScopes({ agents: ["ann"], limit: 10 });
  await store.figures({ scope: scopeA, agents: ["ann"] });
  await store.figures({ scope: scopeA });
  await store.run(keyOf("r1"));
  await store.readRun({ ...keyOf("r1"), after: 3, limit: 10 });
  await store.readAll({ scope: scopeA, after: 100, limit: 10 });
  await store.readAll({ scope: scopeA, after: 0, limit: 10, thread: "t" as ThreadId });
  await store.readThread({ scope: scopeA, thread: "t" as ThreadId, limit: 10 });
  await store.messages({ scope: scopeA, thread: "t" as ThreadId, order: "oldest", after: 1, limit: 10 });
  await store.thread({ scope: scopeA, thread: "t" as ThreadId });
  for (const parent of [undefined, null, "t" as ThreadId]) {
    await store.threads({ scope: scopeA, order: "newest", limit: 10, ...(parent === undefined ? {} : { parent }) });
  }
  const lists = [{}, { agent: "ann" }, { status: "running" as const }, { thread: "t" as ThreadId }];
  for (const filter of lists) await store.runs({ scope: scopeA, order: "newest", limit: 10, ...filter });
  const filters = [
    { status: "open" as const },
    { run: "r1" as RunId, status: "open" as const },
    { id: "x" as TicketId },
    { kind: "missing-capability" as const, agents: ["ann"], status: "open" as const },
    {},
  ];
  for (const filter of filters) await store.tickets({ scope: scopeA, limit: 10, ...filter });
  await store.manifest(scopeA, birthOf("r1").entry.manifest.fingerprint);
  await store.snapshot(keyOf("r1"));
  await store.evidence(keyOf("r1"));
  await store.eraseRun(keyOf("r1"));
  await store.createThread({ scope: scopeA, thread: "u" as ThreadId });
  await store.deleteThread({ scope: scopeA, thread: "u" as ThreadId, children: "reject" });

  const explained = [...statements].filter((sql) => /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/.test(sql));
  expect(explained.length).toBeGreaterThan(30);
  const walks: string[] = [];
  let claimPlan = "";
  let ticketPlan = "";
  for (const sql of explained) {
    const plan = await query<{ "QUERY PLAN": string }>(url, `EXPLAIN (GENERIC_PLAN) ${inSchema(sql, schema)}`);
    const lines = plan.map((row) => row["QUERY PLAN"]);
    // A sequence is a table of one row; snapshots, evidence and the like are empty here.
    const scans = lines.filter((line) =>
      /Seq Scan on (journal|runs|threads|thread_state|tickets|start_keys|post_keys|inbox|outbox|content|content_refs)\b/.test(
        line,
      ),
    );
    if (scans.length > 0) walks.push(`${sql}\n${lines.join("\n")}`);
    if (sql.includes("candidates")) claimPlan = lines.join("\n");
    if (sql.includes("kind = ") && sql.includes("agent = ANY")) ticketPlan = lines.join("\n");
  }
  expect(walks).toEqual([]);
  expect(ticketPlan).toContain("tickets_open_by_kind"); // every worker asks every few seconds
  // One seek for each agent and priority, in the index's own order.
  expect(claimPlan).toMatch(/Index Only Scan using runs_due [^\n]*\n *Index Cond: .*agent = .*priority = .*due <= /);
  expect(claimPlan.match(/Scan using runs_due/g)).toHaveLength(1);
  expect(claimPlan.match(/Index Scan using runs_pkey/g)).toHaveLength(3);
});
