/**
 * The first layout: the same tables as in SQLite. Small integers (`no`) inside, text ids at the border, scope in every key.
 * `hf.` stands for the schema. Text is compared by bytes: an index by the server's locale breaks when its libc is renewed.
 *
 * What an ordinary commit changes in a run's row (head, placed, crashes) is in no index, and the page has room for the
 * new version beside the old one (fillfactor), so that no index is touched.
 */
export const migration1 = `
CREATE SEQUENCE hf.positions MINVALUE 0;   -- the global order of commits, see positions.ts
SELECT nextval('hf.positions');
CREATE SEQUENCE hf.run_numbers;
CREATE SEQUENCE hf.thread_numbers;

CREATE TABLE hf.journal (
  at bigint NOT NULL,                      -- drawn under the run's lock: rises with seq
  scope text COLLATE "C" NOT NULL,
  run bigint NOT NULL,
  seq bigint NOT NULL,                     -- seq of the first entry
  n integer NOT NULL,                      -- number of entries
  epoch bigint,                            -- the claim that wrote it; NULL: birth or the outside door
  time bigint NOT NULL,
  pos bigint,                              -- thread position before it; NULL: birth or the outside door
  m integer NOT NULL,                      -- messages in it
  format integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (run, seq)
);
CREATE INDEX journal_by_position ON hf.journal (scope, at);
CREATE INDEX journal_messages ON hf.journal (run, pos) WHERE m > 0;

CREATE TABLE hf.threads (
  no bigint PRIMARY KEY,                   -- the order in which they were created; never used again
  scope text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  parent bigint,                           -- no of the parent thread
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  position bigint NOT NULL,                -- messages ever appended by runs that have ended
  erased bigint NOT NULL,                  -- how many of them were erased
  active bigint,                           -- no of the run that owns it
  title text,                              -- as JSON: a title may hold what a text column may not
  metadata text
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX threads_by_id ON hf.threads (scope, id);
CREATE INDEX threads_by_scope ON hf.threads (scope, no);
CREATE INDEX threads_by_parent ON hf.threads (scope, parent, no);

CREATE TABLE hf.thread_state (             -- the last value of each state key of the thread
  thread bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  value text NOT NULL,                     -- JSON
  PRIMARY KEY (thread, key)
) WITH (fillfactor = 80);

CREATE TABLE hf.runs (
  no bigint PRIMARY KEY,                   -- the order in which they were created; never used again
  scope text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  thread bigint NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  parent_run text COLLATE "C",             -- id of the run that has started it through a delegate
  created_at bigint NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('created', 'running', 'waiting', 'done')),
  queued boolean NOT NULL,
  epoch bigint NOT NULL,
  head bigint NOT NULL,                    -- seq of the last entry: checked and moved by the statement that adds to the journal
  crashes integer NOT NULL,
  lease_until bigint,
  wake bigint,
  claim_id text COLLATE "C",
  cancel_seq bigint,                       -- seq of the first request to cancel
  start_pos bigint,                        -- thread position at which it started
  placed bigint NOT NULL,                  -- thread position after its last commit
  start_key text COLLATE "C" NOT NULL,
  ended_at bigint,                         -- written by the commit that ends it, and by no other
  priority integer NOT NULL,               -- higher ones are claimed first
  ready bigint NOT NULL,                   -- since when it may start: birth, start time or promotion, whichever is last
  turn bigint NOT NULL,                    -- place in the queue: no, or -no for one that takes the thread from the active run
  due bigint GENERATED ALWAYS AS (         -- when it may be claimed; NULL while it may not
    CASE
      WHEN status = 'done' THEN NULL
      WHEN (queued OR status = 'waiting') AND wake IS NULL THEN NULL
      WHEN queued OR status = 'waiting' THEN greatest(coalesce(lease_until, 0), wake)
      WHEN status = 'created' THEN greatest(coalesce(lease_until, 0), least(ready, wake))
      ELSE coalesce(lease_until, 0)
    END
  ) STORED
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX runs_by_id ON hf.runs (scope, id);
CREATE INDEX runs_due ON hf.runs (scope, agent, priority, due, no) WHERE due IS NOT NULL;
CREATE INDEX runs_ended ON hf.runs (scope, ended_at, no) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_by_start ON hf.runs (thread, start_pos, no) WHERE start_pos IS NOT NULL;
CREATE INDEX runs_queued ON hf.runs (thread, turn) WHERE queued;
CREATE INDEX runs_by_thread ON hf.runs (thread, no);
CREATE INDEX runs_by_scope ON hf.runs (scope, no);
CREATE INDEX runs_by_agent ON hf.runs (scope, agent, no);
CREATE INDEX runs_by_parent ON hf.runs (scope, parent_run, no) WHERE parent_run IS NOT NULL;
CREATE INDEX runs_by_status ON hf.runs (scope, status, no);

CREATE TABLE hf.start_keys (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  run text COLLATE "C" NOT NULL,
  request_hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, key)
);

CREATE TABLE hf.post_keys (
  run bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  time bigint NOT NULL,
  ticket text COLLATE "C",
  start_key text COLLATE "C",              -- the start that the post stood for
  PRIMARY KEY (run, key)
);

CREATE TABLE hf.tickets (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order in which they were opened
  scope text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  run bigint NOT NULL,
  root_run text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  tool text COLLATE "C",
  call text COLLATE "C",
  record text NOT NULL,
  settlement text                          -- NULL while it is open
);
CREATE UNIQUE INDEX tickets_by_id ON hf.tickets (scope, id);
CREATE INDEX tickets_by_scope ON hf.tickets (scope, no);
CREATE INDEX tickets_open ON hf.tickets (scope, no) WHERE settlement IS NULL;
CREATE INDEX tickets_open_by_kind ON hf.tickets (scope, kind, agent, no) WHERE settlement IS NULL;
CREATE INDEX tickets_by_run ON hf.tickets (run, no);

CREATE TABLE hf.inbox (
  run bigint NOT NULL,
  input text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  taken boolean NOT NULL,
  withdrawn_seq bigint,
  replaced boolean NOT NULL,               -- withdrawn by an edit that took its place
  PRIMARY KEY (run, input)
);
CREATE INDEX inbox_unread ON hf.inbox (run) WHERE NOT taken AND withdrawn_seq IS NULL;

CREATE TABLE hf.manifests (
  scope text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (scope, fingerprint)
);

CREATE TABLE hf.snapshots (
  run bigint PRIMARY KEY,
  seq bigint NOT NULL,
  fold_version integer NOT NULL,
  state text NOT NULL
);

CREATE TABLE hf.evidence (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  time bigint NOT NULL,
  body text NOT NULL
);
CREATE INDEX evidence_by_run ON hf.evidence (run, no);

CREATE TABLE hf.outbox (
  run bigint NOT NULL,                     -- the source
  seq bigint NOT NULL,                     -- first seq of the commit
  idx integer NOT NULL,                    -- place in its list
  scope text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,          -- 'run', or 'sink:' and its name
  due bigint NOT NULL,                     -- when it may be taken; the end of the lease while someone carries it
  attempts integer NOT NULL,
  error text,                              -- of the last attempt that was put off, as JSON
  body text NOT NULL,
  PRIMARY KEY (run, seq, idx)
);
CREATE INDEX outbox_due ON hf.outbox (lane, scope, due, run, seq, idx);

CREATE TABLE hf.content (
  scope text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  time bigint NOT NULL,                    -- when it was last put
  media_type text NOT NULL,
  body bytea,
  place text,                              -- where the bytes are instead
  CHECK ((body IS NULL) <> (place IS NULL)),
  PRIMARY KEY (scope, hash)
);
CREATE INDEX content_by_time ON hf.content (scope, time, hash);

CREATE TABLE hf.content_refs (
  scope text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  run bigint NOT NULL,
  seq bigint NOT NULL,                     -- first seq of the first commit that cites it
  PRIMARY KEY (scope, hash, run)
);
CREATE INDEX content_refs_by_run ON hf.content_refs (run);

CREATE TABLE hf.erasures (
  scope text COLLATE "C" PRIMARY KEY,
  up_to bigint NOT NULL                    -- the newest position that was taken away
);

CREATE TABLE hf.workers (
  scope text COLLATE "C" NOT NULL,         -- '' stands for every scope
  agent text COLLATE "C" NOT NULL,
  worker text COLLATE "C" NOT NULL,
  until bigint NOT NULL,                   -- after this the worker is taken for gone
  PRIMARY KEY (scope, agent, worker)
);
`;
