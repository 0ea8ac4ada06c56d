-- The log, its projections and its side tables. Times are Unix milliseconds. An "item" is a task's number, or minus the
-- number of a quarantine entry, so that one docket and one feed hold both.

CREATE TABLE meta(
  key   TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- The log, and all that is written before an answer: seq is the place in the feed, body the JSON of the event, task_id
-- the task's own name at its first event, envelope the message as it arrived where the event stores one. Never updated,
-- never deleted from. Every table on tasks below follows from it; where many messages come at once, those follow a
-- moment later: from the event that meta's "behind_from" names on (0: none), they may not yet.
CREATE TABLE event(
  seq      INTEGER PRIMARY KEY,
  item     INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  task_id  TEXT,
  body     BLOB NOT NULL,
  envelope BLOB
) STRICT;

-- Where a task's events are, a row for each: one tree, so that what belongs to one task lies together. arrival is that
-- of a distinct submission; intent and name are 64 bits of its intent and of the message id it came under, whose event
-- is to be compared exactly with. A repeat has only a name, and that only where its submission has none such yet.
CREATE TABLE thread(
  item     INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  arrival  INTEGER,
  intent   INTEGER,
  name     INTEGER,
  PRIMARY KEY (item, revision)
) STRICT, WITHOUT ROWID;
-- Most tasks have few events, which are looked through. What comes after the 64th is found by these.
CREATE INDEX thread_by_arrival ON thread(item, arrival) WHERE revision > 64 AND arrival IS NOT NULL;
CREATE INDEX thread_by_intent ON thread(item, intent) WHERE revision > 64 AND intent IS NOT NULL;
CREATE INDEX thread_by_name ON thread(item, name) WHERE revision > 64 AND name IS NOT NULL;

-- What filters and orders look at, narrow, so that a scan of all of it stays cheap; rewritten only where it changes.
CREATE TABLE task(
  id         INTEGER PRIMARY KEY,
  task_id    TEXT NOT NULL UNIQUE,
  trace_id   TEXT NOT NULL,
  state      INTEGER NOT NULL,
  entered_at INTEGER NOT NULL,
  urgency    INTEGER NOT NULL,
  deadline   INTEGER NOT NULL,
  candidates INTEGER NOT NULL,
  decided    INTEGER NOT NULL,
  failure    INTEGER,
  agent      TEXT,
  assigned   TEXT
) STRICT;
CREATE INDEX task_by_entered ON task(entered_at);
CREATE INDEX task_by_trace ON task(trace_id);
CREATE INDEX task_decided ON task(entered_at) WHERE decided = 1;
CREATE INDEX task_decided_by_urgency ON task(urgency) WHERE decided = 1;
CREATE INDEX task_decided_by_deadline ON task(deadline) WHERE decided = 1;
-- Tasks without a priority (urgency -1) or a deadline are in neither: they are ordered by number.
CREATE INDEX task_by_urgency ON task(urgency) WHERE urgency <> -1;
CREATE INDEX task_by_deadline ON task(deadline) WHERE deadline <> 9223372036854775807;

-- The folded state; revision guards every write.
CREATE TABLE snapshot(
  id       INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL,
  body     BLOB NOT NULL
) STRICT;

-- What free text is searched in, in lower case.
CREATE TABLE words(
  item INTEGER PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE label(
  task  INTEGER NOT NULL,
  key   TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (task, key)
) STRICT, WITHOUT ROWID;

-- Why an item waits for a person, and while it does: since <= now < until. What its task is ordered by stands here too,
-- so that a list of what waits reads one index; no deadline is NULL.
CREATE TABLE docket(
  item     INTEGER NOT NULL,
  since    INTEGER NOT NULL,
  until    INTEGER NOT NULL,
  reason   INTEGER NOT NULL,
  stuck    INTEGER NOT NULL,
  urgency  INTEGER NOT NULL,
  deadline INTEGER,
  decided  INTEGER NOT NULL,
  PRIMARY KEY (item, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX docket_by_since ON docket(since, item, until, reason, stuck, urgency, deadline);
CREATE INDEX docket_by_reason ON docket(reason, since, item, until, stuck, urgency, deadline);
CREATE INDEX docket_decided ON docket(since, item, until, reason, stuck) WHERE decided = 1;

-- What became of a submission after it arrived; without a row, nothing.
CREATE TABLE mark(
  task       INTEGER NOT NULL,
  arrival    INTEGER NOT NULL,
  applied    INTEGER NOT NULL DEFAULT 0,
  duplicates INTEGER NOT NULL DEFAULT 0,
  judged_by  INTEGER,
  PRIMARY KEY (task, arrival)
) STRICT, WITHOUT ROWID;

CREATE TABLE effect(
  task   INTEGER NOT NULL,
  key    TEXT NOT NULL,
  target TEXT NOT NULL,
  body   BLOB NOT NULL,
  PRIMARY KEY (task, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX effect_by_target ON effect(task, target);

-- The ledger: record is canonical JSON. The constraints hold even where a rule is wrong.
CREATE TABLE approval(
  sequence      INTEGER PRIMARY KEY,
  approval_id   TEXT NOT NULL UNIQUE,
  task          INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  state_version INTEGER NOT NULL,
  record_digest BLOB NOT NULL,
  record        BLOB NOT NULL,
  UNIQUE (task, version),
  UNIQUE (task, state_version)
) STRICT;

CREATE TABLE decision_key(
  issuer      TEXT NOT NULL,
  subject     TEXT NOT NULL,
  key         TEXT NOT NULL,
  body_digest BLOB NOT NULL,
  sequence    INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject, key)
) STRICT, WITHOUT ROWID;

-- Messages put aside; settled is 0 while open, 1 when admitted after all, 2 when dropped.
CREATE TABLE quarantine(
  number           INTEGER PRIMARY KEY,
  reason           INTEGER NOT NULL,
  detail           TEXT NOT NULL,
  message_id       TEXT,
  task_id          TEXT,
  sender           TEXT,
  source           TEXT NOT NULL,
  principal        TEXT NOT NULL,
  received_at      INTEGER NOT NULL,
  last_received_at INTEGER NOT NULL,
  count            INTEGER NOT NULL,
  settled          INTEGER NOT NULL,
  settled_by       TEXT,
  settled_at       INTEGER,
  settled_why      TEXT,
  digest           BLOB NOT NULL,
  bytes            BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX quarantine_open_bytes ON quarantine(digest) WHERE settled = 0;
CREATE INDEX quarantine_open_by_received ON quarantine(received_at) WHERE settled = 0;
CREATE INDEX quarantine_open ON quarantine(number) WHERE settled = 0;
CREATE INDEX quarantine_by_task ON quarantine(task_id, number) WHERE settled = 0;

CREATE TABLE head_acceptance(
  epoch    INTEGER PRIMARY KEY,
  at       INTEGER NOT NULL,
  by       TEXT NOT NULL,
  reason   TEXT NOT NULL,
  mismatch TEXT NOT NULL,
  events   INTEGER NOT NULL,
  sequence INTEGER NOT NULL
) STRICT;
