/** Rises when tables change. A store of another version is refused. */
export const SCHEMA_VERSION = 1;

/**
 * Tables of a store. Keys of rows are integers; ids of cohorts and groups repeat where abandoned ones were played anew.
 * Times are milliseconds since 1970.
 */
export const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE incarnations (id INTEGER PRIMARY KEY, purpose TEXT NOT NULL, started_at INTEGER NOT NULL) STRICT;
  CREATE TABLE cohorts (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL, purpose TEXT NOT NULL, incarnation INTEGER NOT NULL REFERENCES incarnations,
    learner TEXT NOT NULL, step INTEGER NOT NULL, refill INTEGER NOT NULL, place INTEGER NOT NULL, part INTEGER NOT NULL,
    environment TEXT NOT NULL, run_step INTEGER NOT NULL, versions TEXT NOT NULL, checksum TEXT, plan TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'leased', 'committed', 'abandoned')),
    attempt INTEGER NOT NULL, leased_by TEXT, leased_until INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX cohort_ids ON cohorts (id) WHERE state <> 'abandoned';
  CREATE INDEX cohorts_to_lease ON cohorts (key) WHERE state IN ('open', 'leased');
  CREATE INDEX cohorts_of_take ON cohorts (learner, step, refill, place, part) WHERE state <> 'abandoned';
  CREATE TABLE groups (
    key INTEGER PRIMARY KEY, cohort INTEGER NOT NULL REFERENCES cohorts, position INTEGER NOT NULL, id TEXT NOT NULL,
    task TEXT NOT NULL, UNIQUE (cohort, position)
  ) STRICT;
  CREATE INDEX groups_by_id ON groups (id);
  CREATE TABLE episodes (
    key INTEGER PRIMARY KEY, group_key INTEGER NOT NULL REFERENCES groups, attempt INTEGER NOT NULL, member INTEGER NOT NULL,
    id TEXT NOT NULL, environment TEXT NOT NULL, task TEXT NOT NULL, seed INTEGER, error_code TEXT, error_message TEXT, info TEXT,
    seconds_sampling REAL NOT NULL, seconds_environment REAL NOT NULL, UNIQUE (group_key, attempt, member)
  ) STRICT;
  CREATE INDEX episodes_by_id ON episodes (id);
  CREATE INDEX episodes_by_task ON episodes (task);
  CREATE TABLE parts (
    episode INTEGER NOT NULL REFERENCES episodes, agent TEXT NOT NULL, reward REAL, total TEXT NOT NULL, ending TEXT NOT NULL,
    PRIMARY KEY (episode, agent)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX parts_by_reward ON parts (reward);
  CREATE TABLE turns (
    episode INTEGER NOT NULL REFERENCES episodes, position INTEGER NOT NULL, agent TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (episode, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE segments (
    episode INTEGER NOT NULL REFERENCES episodes, agent TEXT NOT NULL, position INTEGER NOT NULL, parent INTEGER,
    length INTEGER NOT NULL, tokens BLOB, logprobs BLOB, mask BLOB NOT NULL, versions BLOB NOT NULL,
    PRIMARY KEY (episode, agent, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE steps (
    key INTEGER PRIMARY KEY, learner TEXT NOT NULL, step INTEGER NOT NULL, checksum TEXT, is_settled INTEGER NOT NULL DEFAULT 0,
    is_abandoned INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX steps_of_learner ON steps (learner, step) WHERE is_abandoned = 0;
  CREATE TABLE takes (
    step INTEGER NOT NULL REFERENCES steps, refill INTEGER NOT NULL, count INTEGER NOT NULL, rule TEXT NOT NULL,
    PRIMARY KEY (step, refill)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE batches (
    group_key INTEGER NOT NULL REFERENCES groups, learner TEXT NOT NULL, step INTEGER NOT NULL REFERENCES steps, refill INTEGER NOT NULL,
    position INTEGER NOT NULL, is_refused INTEGER NOT NULL DEFAULT 0, is_abandoned INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (step, group_key)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX batch_of_group ON batches (learner, group_key) WHERE is_abandoned = 0;
  CREATE INDEX batches_of_step ON batches (step, refill, position);
  CREATE TABLE credits (
    step INTEGER NOT NULL REFERENCES steps, episode INTEGER NOT NULL REFERENCES episodes, agent TEXT NOT NULL, advantage REAL,
    advantages BLOB, logprobs BLOB, PRIMARY KEY (step, episode, agent)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE weights (
    key INTEGER PRIMARY KEY, incarnation INTEGER NOT NULL REFERENCES incarnations, policy TEXT NOT NULL, version INTEGER NOT NULL,
    step INTEGER NOT NULL, checksum TEXT, location TEXT, UNIQUE (incarnation, policy, version)
  ) STRICT;
  CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, step INTEGER
  ) STRICT;
`;
