/**
 * The first layout. Small integers (`no`) inside, text ids at the border, scope in every key. A transaction costs the
 * pages it dirties, so the journal is one table that grows at its end, with one index, and holds one row per commit.
 */
export const migration1 = `
CREATE TABLE journal (
  at INTEGER PRIMARY KEY,          -- global order of commits: the cursor of reads over many runs
  thread INTEGER NOT NULL,
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,            -- seq of the first entry
  n INTEGER NOT NULL,              -- number of entries
  epoch INTEGER,                   -- the claim that wrote it; NULL: birth or the outside door
  time INTEGER NOT NULL,
  pos INTEGER,                     -- thread position before it; NULL: birth or the outside door
  m INTEGER NOT NULL,              -- messages in it
  format INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX journal_by_run ON journal (thread, run, seq);

CREATE TABLE threads (
  no INTEGER PRIMARY KEY,          -- the order in which they were created; never used again
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  parent INTEGER,                  -- no of the parent thread
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  position INTEGER NOT NULL,       -- messages ever appended by runs that have ended
  erased INTEGER NOT NULL,         -- how many of them were erased
  active INTEGER                   -- no of the run that owns it
) STRICT;
CREATE UNIQUE INDEX threads_by_id ON threads (scope, id);
CREATE INDEX threads_by_scope ON threads (scope);
CREATE INDEX threads_by_parent ON threads (scope, parent);

CREATE TABLE thread_notes (        -- beside the thread, whose row is written at every birth and end
  thread INTEGER PRIMARY KEY,
  title TEXT,
  metadata TEXT NOT NULL
) STRICT;

CREATE TABLE thread_state (        -- the last value of each state key of the thread
  thread INTEGER NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  value TEXT NOT NULL,             -- JSON
  PRIMARY KEY (thread, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  no INTEGER PRIMARY KEY,          -- the order in which they were created; never used again
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  thread INTEGER NOT NULL,
  thread_id TEXT NOT NULL,
  agent TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  parent_run TEXT,                 -- id of the run that has started it through a delegate
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('created', 'running', 'waiting', 'done')),
  queued INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  crashes INTEGER NOT NULL,
  lease_until INTEGER,
  wake INTEGER,
  claim_id TEXT,
  cancel_seq INTEGER,              -- seq of the first request to cancel
  start_pos INTEGER,               -- thread position at which it started
  start_key TEXT NOT NULL,
  ended_at INTEGER,                -- written by the commit that ends it, and by no other
  priority INTEGER NOT NULL,       -- higher ones are claimed first
  ready INTEGER NOT NULL,          -- since when it may start: birth, start time or promotion, whichever is last
  turn INTEGER NOT NULL,           -- place in the queue: no, or -no for one that takes the thread from the active run
  due INTEGER GENERATED ALWAYS AS ( -- when it may be claimed; NULL while it may not
    CASE
      WHEN status = 'done' THEN NULL
      WHEN queued = 1 OR status = 'waiting' THEN max(coalesce(lease_until, 0), wake)
      WHEN status = 'created' THEN max(coalesce(lease_until, 0), min(ready, coalesce(wake, ready)))
      ELSE coalesce(lease_until, 0)
    END
  ) VIRTUAL
) STRICT;
CREATE UNIQUE INDEX runs_by_id ON runs (scope, id);
CREATE INDEX runs_due ON runs (scope, agent, priority, due) WHERE due IS NOT NULL;
CREATE INDEX runs_ended ON runs (scope, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_by_start ON runs (thread, start_pos) WHERE start_pos IS NOT NULL;
CREATE INDEX runs_queued ON runs (thread, turn) WHERE queued = 1;
CREATE INDEX runs_by_thread ON runs (thread);
CREATE INDEX runs_by_scope ON runs (scope);
CREATE INDEX runs_by_agent ON runs (scope, agent);
CREATE INDEX runs_by_parent ON runs (scope, parent_run) WHERE parent_run IS NOT NULL;
CREATE INDEX runs_by_status ON runs (scope, status);

CREATE TABLE start_keys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  run TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE post_keys (
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  time INTEGER NOT NULL,
  ticket TEXT,
  start_key TEXT,                  -- the start that the post stood for
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE tickets (
  no INTEGER PRIMARY KEY,          -- the order in which they were opened
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  run INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  root_run TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  agent TEXT NOT NULL,
  tool TEXT,
  call TEXT,
  record TEXT NOT NULL,
  settlement TEXT                  -- NULL while it is open
) STRICT;
CREATE UNIQUE INDEX tickets_by_id ON tickets (scope, id);
CREATE INDEX tickets_open ON tickets (scope) WHERE settlement IS NULL;
CREATE INDEX tickets_open_by_kind ON tickets (scope, kind, agent) WHERE settlement IS NULL;
CREATE INDEX tickets_by_run ON tickets (run);

CREATE TABLE inbox (
  run INTEGER NOT NULL,
  input TEXT NOT NULL,
  seq INTEGER NOT NULL,
  taken INTEGER NOT NULL,
  withdrawn_seq INTEGER,
  PRIMARY KEY (run, input)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_unread ON inbox (run) WHERE taken = 0 AND withdrawn_seq IS NULL;

CREATE TABLE manifests (
  no INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX manifests_by_fingerprint ON manifests (scope, fingerprint);

CREATE TABLE snapshots (
  run INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  fold_version INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;

CREATE TABLE evidence (
  no INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  kind TEXT NOT NULL,
  time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX evidence_by_run ON evidence (run);

-- Facts for others, written with the commit that causes them and carried to their target afterwards.
CREATE TABLE outbox (
  run INTEGER NOT NULL,            -- the source
  seq INTEGER NOT NULL,            -- first seq of the commit
  idx INTEGER NOT NULL,            -- place in its list
  scope TEXT NOT NULL,
  lane TEXT NOT NULL,              -- 'run', or 'sink:' and its name
  due INTEGER NOT NULL,            -- when it may be taken; the end of the lease while someone carries it
  attempts INTEGER NOT NULL,
  error TEXT,                      -- of the last attempt that was put off
  body TEXT NOT NULL,
  PRIMARY KEY (run, seq, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_due ON outbox (lane, scope, due);

-- Content: large bodies by hash, and which runs cite them, for collection.
CREATE TABLE content (
  no INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  hash TEXT NOT NULL,
  time INTEGER NOT NULL,           -- when it was last put
  media_type TEXT NOT NULL,
  body BLOB,
  place TEXT,                      -- where the bytes are instead
  CHECK ((body IS NULL) <> (place IS NULL))
) STRICT;
CREATE UNIQUE INDEX content_by_hash ON content (scope, hash);
CREATE INDEX content_by_time ON content (scope, time, hash);
CREATE TABLE content_refs (
  scope TEXT NOT NULL,
  hash TEXT NOT NULL,
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,            -- first seq of the first commit that cites it
  PRIMARY KEY (scope, hash, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX content_refs_by_run ON content_refs (run);

-- Erasure takes rows away for good. What they were numbered with is not given out again: runs and threads are counted on
-- from here, and the journal keeps one empty row (thread 0, run 0) above every position ever used.
CREATE TABLE high_water (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  run INTEGER NOT NULL,
  thread INTEGER NOT NULL
) STRICT;
INSERT INTO high_water (one, run, thread) VALUES (1, 0, 0);

CREATE TABLE erasures (
  scope TEXT PRIMARY KEY,
  up_to INTEGER NOT NULL           -- the newest position that was taken away
) STRICT, WITHOUT ROWID;

-- Who has which agents. Small, and written beside the runs.
CREATE TABLE workers (
  scope TEXT NOT NULL,             -- '' stands for every scope
  agent TEXT NOT NULL,
  worker TEXT NOT NULL,
  until INTEGER NOT NULL,          -- after this the worker is taken for gone
  PRIMARY KEY (scope, agent, worker)
) STRICT, WITHOUT ROWID;
`;
