/** Rises when tables change. A store of another version is refused. */
export const SCHEMA_VERSION = 3;

/**
 * Tables of a store. Keys of rows are integers; ids of cohorts and groups repeat where abandoned ones were played anew.
 * Times are milliseconds since 1970. Tables of long rows have a rowid, because a row without one is stored in the index.
 */
export const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE incarnations (id INTEGER PRIMARY KEY, purpose TEXT NOT NULL, started_at INTEGER NOT NULL) STRICT;
  CREATE TABLE cohorts (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL, purpose TEXT NOT NULL, incarnation INTEGER NOT NULL REFERENCES incarnations,
    stage TEXT NOT NULL, learner TEXT, step INTEGER, refill INTEGER, place INTEGER NOT NULL, part INTEGER NOT NULL,
    environment TEXT NOT NULL, run_step INTEGER NOT NULL, versions TEXT NOT NULL, checksum TEXT, plan TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'leased', 'committed', 'abandoned')), has_tokens INTEGER NOT NULL DEFAULT 1,
    attempt INTEGER NOT NULL, leased_by TEXT, leased_until INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX cohort_ids ON cohorts (id) WHERE state <> 'abandoned';
  CREATE INDEX cohorts_by_id ON cohorts (id);
  CREATE INDEX cohorts_to_lease ON cohorts (key) WHERE state IN ('open', 'leased');
  CREATE INDEX cohorts_of_take ON cohorts (learner, step, refill, place, part) WHERE state <> 'abandoned';
  CREATE INDEX cohorts_by_run_step ON cohorts (run_step, purpose);
  CREATE TABLE groups (
    key INTEGER PRIMARY KEY, cohort INTEGER NOT NULL REFERENCES cohorts, position INTEGER NOT NULL, id TEXT NOT NULL,
    task TEXT NOT NULL, players TEXT, UNIQUE (cohort, position)
  ) STRICT;
  CREATE TABLE episodes (
    key INTEGER PRIMARY KEY, cohort INTEGER NOT NULL REFERENCES cohorts, group_key INTEGER NOT NULL REFERENCES groups,
    attempt INTEGER NOT NULL, member INTEGER NOT NULL, id TEXT NOT NULL, environment TEXT NOT NULL, task TEXT NOT NULL, seed INTEGER,
    error TEXT, info TEXT, seconds_sampling REAL NOT NULL, seconds_environment REAL NOT NULL, seconds_players REAL,
    UNIQUE (group_key, attempt, member)
  ) STRICT;
  CREATE INDEX episodes_of_cohort ON episodes (cohort);
  CREATE INDEX episodes_failed ON episodes (key) WHERE error IS NOT NULL;
  CREATE TABLE parts (
    episode INTEGER NOT NULL REFERENCES episodes, position INTEGER NOT NULL, agent TEXT NOT NULL, role TEXT NOT NULL,
    player_kind TEXT NOT NULL, player TEXT NOT NULL, policy TEXT, version INTEGER, reward REAL, total TEXT NOT NULL, shared TEXT,
    terminated INTEGER NOT NULL, truncated INTEGER NOT NULL, truncated_by TEXT, turns INTEGER NOT NULL, tokens INTEGER NOT NULL,
    oldest_version INTEGER, newest_version INTEGER, PRIMARY KEY (episode, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE turns (
    episode INTEGER NOT NULL REFERENCES episodes, position INTEGER NOT NULL, agent TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (episode, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE segments (
    episode INTEGER NOT NULL REFERENCES episodes, part INTEGER NOT NULL, position INTEGER NOT NULL, parent INTEGER,
    length INTEGER NOT NULL, tokens BLOB, logprobs BLOB, mask BLOB NOT NULL, versions BLOB NOT NULL,
    PRIMARY KEY (episode, part, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE steps (
    key INTEGER PRIMARY KEY, learner TEXT NOT NULL, step INTEGER NOT NULL, incarnation INTEGER NOT NULL REFERENCES incarnations,
    state TEXT NOT NULL CHECK (state IN ('taken', 'applied', 'abandoned')), checksum TEXT, replays INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX steps_of_learner ON steps (learner, step) WHERE state <> 'abandoned';
  CREATE TABLE takes (
    step INTEGER NOT NULL REFERENCES steps, refill INTEGER NOT NULL, count INTEGER NOT NULL, rule TEXT NOT NULL,
    run_step INTEGER NOT NULL, iteration INTEGER NOT NULL, version INTEGER NOT NULL, tasks TEXT NOT NULL, PRIMARY KEY (step, refill)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE batches (
    group_key INTEGER NOT NULL REFERENCES groups, learner TEXT NOT NULL, step INTEGER NOT NULL REFERENCES steps, refill INTEGER NOT NULL,
    position INTEGER NOT NULL, is_refused INTEGER NOT NULL DEFAULT 0, is_abandoned INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (step, group_key)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX batch_of_group ON batches (group_key, learner) WHERE is_abandoned = 0;
  CREATE TABLE credits (
    step INTEGER NOT NULL REFERENCES steps, episode INTEGER NOT NULL REFERENCES episodes, agent TEXT NOT NULL,
    advantage REAL, advantages BLOB, logprobs BLOB, PRIMARY KEY (step, episode, agent)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE weights (
    key INTEGER PRIMARY KEY, incarnation INTEGER NOT NULL REFERENCES incarnations, policy TEXT NOT NULL, version INTEGER NOT NULL,
    step INTEGER NOT NULL, checksum TEXT, location TEXT, UNIQUE (incarnation, policy, version)
  ) STRICT;
  CREATE TABLE metrics (key INTEGER PRIMARY KEY, step INTEGER NOT NULL, content TEXT NOT NULL) STRICT;
  CREATE INDEX metrics_by_step ON metrics (step);
  CREATE TABLE members (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, address TEXT, capabilities TEXT NOT NULL, started_at INTEGER NOT NULL, heartbeat_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, step INTEGER
  ) STRICT;
`;
