/**
 * What must hold of a SQLite store at any instant, whatever the process that wrote it was doing. Read from the file alone.
 *
 * F1 The file is whole, and can be opened as a store.
 * F2 A run's seq is gapless from 1, and its journal folds.
 * F3 The run's row says what its journal says: status, head, epoch, cancel, end, start key, manifest.
 * F4 Ticket rows and inbox rows are exactly those of the journal, and settled, taken or withdrawn where it says so.
 * F5 Every post key points at the entry that came through the outside door.
 * F6 A thread is held by exactly one run that is not done and not queued; positions of its messages have no hole.
 */
import { DatabaseSync } from "node:sqlite";
import { foldAll } from "../../src/domain/apply.ts";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import type { RunRow, Store, TicketRow } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import { deps } from "../stores/watched-store.ts";

export type Journals = ReadonlyMap<RunId, readonly Entry[]>;

export interface FileReport {
  readonly journals: Journals;
  readonly problems: readonly string[];
}

const everything = 1_000_000;

export async function checkFile(path: string): Promise<FileReport> {
  let store: Store;
  try {
    store = await sqlite(path, { durability: "normal" }).open(deps);
  } catch (cause) {
    return { journals: new Map(), problems: [`it cannot be opened: ${String(cause)}`] }; // F1
  }
  try {
    return await checkStore(store, path);
  } finally {
    await store.close();
  }
}

async function checkStore(store: Store, path: string): Promise<FileReport> {
  const journals = new Map<RunId, readonly Entry[]>();
  const problems = problemsInRows(path);
  for (const { run } of await store.runs({ scope: defaultScope, order: "oldest", limit: everything })) {
    const row = await store.run({ scope: defaultScope, run });
    if (!row) continue;
    const entries = await readAfter(row, 0, store);
    const tickets = await store.tickets({ scope: defaultScope, run, limit: everything });
    journals.set(run, entries);
    const found = [...runProblems(row, entries), ...ticketProblems(entries, tickets)];
    problems.push(...found.map((problem) => `run ${run}: ${problem}`));
  }
  return { journals, problems };
}

/** F2, F3. */
function runProblems(row: RunRow, entries: readonly Entry[]): readonly string[] {
  const gap = entries.findIndex(({ seq }, index) => seq !== index + 1);
  if (gap >= 0) return [`seq ${entries[gap]?.seq} stands in place ${gap + 1}`];
  try {
    const { status, seq } = foldAll(entries);
    const epoch = Math.max(0, ...entries.map((entry) => entry.epoch ?? 0));
    return [
      ...(status === row.status ? [] : [`its row says ${row.status}, its journal ${status}`]),
      ...(seq === row.head ? [] : [`its row ends at ${row.head}, its journal at ${seq}`]),
      ...(epoch <= row.epoch ? [] : [`its row has epoch ${row.epoch}, its journal ${epoch}`]),
    ];
  } catch (cause) {
    return [`its journal does not fold: ${String(cause)}`];
  }
}

/** F4. */
function ticketProblems(entries: readonly Entry[], rows: readonly TicketRow[]): readonly string[] {
  const inJournal = entries.flatMap((entry) => {
    if (entry.type !== "ticket-opened") return [];
    const decided = entries.find((each) => each.type === "ticket-decided" && each.ticket === entry.ticket.id);
    return [`${entry.ticket.id} ${decided?.seq ?? "open"}`];
  });
  const inRows = rows.map(({ ticket, settlement }) => `${ticket.id} ${settlement?.seq ?? "open"}`);
  const same = inJournal.sort().join() === inRows.sort().join();
  return same ? [] : [`its tickets are ${inRows.join()}, by its journal ${inJournal.join()}`];
}

/** Each finds rows that break a rule, and says which. `entries` is the journal, entry by entry. */
const rules: readonly (readonly [rule: string, sql: string])[] = [
  [
    "F3 cancel, end, key or manifest of its row",
    `SELECT runs.id FROM runs WHERE
       (status = 'done') <> (ended_at IS NOT NULL)
       OR cancel_seq IS NOT (SELECT min(seq) FROM entries WHERE entries.run = runs.no AND
            (type = 'cancel-requested' OR (type = 'ticket-decided' AND entry ->> '$.decision.kind' = 'cancel-run')) AND epoch IS NULL)
       OR NOT EXISTS (SELECT 1 FROM start_keys WHERE start_keys.key = runs.start_key AND start_keys.run = runs.id)
       OR NOT EXISTS (SELECT 1 FROM manifests WHERE manifests.fingerprint = runs.fingerprint)`,
  ],
  [
    "F4 an input without its row, or a row without its input",
    `SELECT run || ' ' || input AS id FROM (
       SELECT run, entry ->> '$.input' AS input, seq FROM entries WHERE type = 'input-received'
       EXCEPT SELECT run, input, seq FROM inbox)
     UNION ALL SELECT run || ' ' || input FROM (
       SELECT run, input, seq FROM inbox
       EXCEPT SELECT run, entry ->> '$.input', seq FROM entries WHERE type = 'input-received')`,
  ],
  [
    "F4 an input taken or withdrawn in one place only",
    `SELECT inbox.run || ' ' || input AS id FROM inbox WHERE
       taken <> EXISTS (SELECT 1 FROM entries WHERE entries.run = inbox.run AND type = 'message-appended'
         AND entry ->> '$.body.input' = inbox.input)
       OR withdrawn_seq IS NOT (SELECT min(seq) FROM entries WHERE entries.run = inbox.run AND
         ((type = 'input-withdrawn' AND entry ->> '$.input' = inbox.input) OR entry ->> '$.replaces' = inbox.input))`,
  ],
  [
    "F5 a post key without its entry, or a post without its key",
    `SELECT post_keys.run || ' ' || post_keys.key AS id FROM post_keys WHERE NOT EXISTS
       (SELECT 1 FROM entries WHERE entries.run = post_keys.run AND entries.seq = post_keys.seq AND epoch IS NULL)
     UNION ALL SELECT run || ' ' || seq FROM entries WHERE epoch IS NULL AND seq > 1 AND NOT EXISTS
       (SELECT 1 FROM post_keys WHERE post_keys.run = entries.run AND post_keys.seq = entries.seq)`,
  ],
  [
    "F6 a thread that the wrong run holds, or none",
    `SELECT threads.id FROM threads WHERE active IS NOT
       (SELECT no FROM runs WHERE runs.thread = threads.no AND status <> 'done' AND queued = 0)
       OR (SELECT count(*) FROM runs WHERE runs.thread = threads.no AND status <> 'done' AND queued = 0) > 1`,
  ],
  [
    "F6 a thread whose ended runs have other messages than it counts",
    `SELECT threads.id FROM threads WHERE position <> coalesce((SELECT max(pos + m) FROM journal JOIN runs ON runs.no = journal.run
       WHERE journal.thread = threads.no AND status = 'done'), 0)`,
  ],
  [
    "F6 a commit whose messages do not follow those before it",
    `SELECT run || ' ' || seq AS id FROM (
       SELECT run, seq, pos, lag(pos + m) OVER (PARTITION BY run ORDER BY seq) AS wanted FROM journal WHERE pos IS NOT NULL)
     WHERE wanted IS NOT NULL AND wanted <> pos`,
  ],
];

const entryByEntry = `CREATE TEMP VIEW entries AS
  SELECT run, seq + key AS seq, epoch, value ->> '$.type' AS type, value AS entry FROM journal, json_each(journal.body)`;

function problemsInRows(path: string): string[] {
  const db = new DatabaseSync(path);
  try {
    const whole = db.prepare("PRAGMA integrity_check").get()?.integrity_check;
    db.exec(entryByEntry);
    const found = rules.flatMap(([rule, sql]) =>
      db
        .prepare(sql)
        .all()
        .map(({ id }) => `${rule}: ${id}`),
    );
    return whole === "ok" ? found : [`F1 ${whole}`, ...found];
  } finally {
    db.close();
  }
}
