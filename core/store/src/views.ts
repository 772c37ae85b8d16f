import { either, jsonInteger, jsonOf, jsonReal, jsonText } from "./sql.ts";

export interface ViewColumn {
  readonly name: string;
  readonly type: "text" | "integer" | "real" | "json";
  readonly meaning: string;
  /** SQL of the value, for both databases. */
  readonly value: string;
}

/** A documented view: the public interface of queries. Its SQL and its page in docs/reference are made from this description. */
export interface View {
  readonly name: string;
  readonly meaning: string;
  /** SQL after the columns for both databases: FROM, WHERE, GROUP BY. */
  readonly from: string;
  readonly columns: readonly ViewColumn[];
}

const column = (name: string, type: ViewColumn["type"], value: string, meaning: string): ViewColumn => ({
  name,
  type,
  value,
  meaning,
});

/** Identity of an episode. */
const PLACE = [
  column("purpose", "text", "cohorts.purpose", "`train`, `goal`, `eval` or `collect`"),
  column(
    "stage",
    "text",
    "cohorts.stage",
    "name of the stage; `evaluation/greedy` and `evaluation/sampled` for evaluations",
  ),
  column(
    "learner",
    "text",
    "cohorts.learner",
    "`STAGE/POLICY`, with the index of the stage from 0; null where no learner takes it",
  ),
  column(
    "run_step",
    "integer",
    "cohorts.run_step",
    "step of the run that learns from it first; of an evaluation: the step whose weights played",
  ),
  column("step", "integer", "cohorts.step", "number of the learner's take, from 1"),
  column("refill", "integer", "cohorts.refill", "0, or r for the r-th replacement of refused groups"),
  column("environment", "text", "episodes.environment", "id of the environment, for example `math@2`"),
  column("task", "text", "episodes.task", "id of the task, for example `train/3`"),
  column("seed", "integer", "episodes.seed", "seed of the episode; null where the environment takes none"),
  column(
    "group_id",
    "text",
    "(SELECT id FROM groups WHERE groups.key = episodes.group_key)",
    "id of the group: episodes of one task, seed and players. Each evaluation of a run has the same ids",
  ),
  column("group_key", "integer", "episodes.group_key", "number of the group; no other group of the store has it"),
  column("member", "integer", "episodes.member", "index in the group, from 0"),
  column(
    "episode",
    "text",
    "episodes.id",
    "id of the episode, which determines its randomness. Each evaluation of a run has the same ids",
  ),
  column(
    "episode_key",
    "integer",
    "episodes.key",
    "number of the episode; no other episode of the store has it: join views by it",
  ),
];

/** Condition of an episode that was neither played anew nor interrupted. */
export const IS_WHOLE = "cohorts.state = 'committed'";

// Values of other tables are subqueries where a join is not needed to select rows: SQLite computes them only where a query uses them.
export const EPISODES = `episodes JOIN cohorts ON cohorts.key = episodes.cohort LEFT JOIN parts ON parts.episode = episodes.key`;

/** Agents' parts that batches learn from, with the step and the take of each. */
export const STALENESS = `FROM steps JOIN takes ON takes.step = steps.key AND takes.refill = (SELECT MAX(refill) FROM takes AS t WHERE t.step = steps.key)
  JOIN batches ON batches.step = steps.key AND batches.is_refused = 0 JOIN episodes ON episodes.group_key = batches.group_key
  JOIN parts ON parts.episode = episodes.key AND parts.player_kind = 'policy' AND parts.tokens > 0
  WHERE steps.state <> 'abandoned'`;

/** Difficulty that the environment states, from the first turn of any episode of a group. */
const DIFFICULTY = `MAX((SELECT ${jsonReal("turns.content", "'difficulty'")} FROM turns WHERE turns.episode = episodes.key AND turns.position = 0))`;

/** Groups, with the parts of trained policies. */
const GROUPS = `FROM episodes JOIN cohorts ON cohorts.key = episodes.cohort
  LEFT JOIN parts ON parts.episode = episodes.key AND parts.player_kind = 'policy' WHERE ${IS_WHOLE}
  GROUP BY cohorts.key, episodes.group_key, episodes.environment, episodes.task`;

/** Mean reward of a group. */
const GROUP_REWARD = "AVG(CASE WHEN episodes.error IS NULL THEN parts.reward END)";

/** Number and mean rewards of the training groups of each task, in order of play. */
export const TASKS = `SELECT environment, task, MAX(difficulty) AS difficulty, COUNT(*) AS groups,
  ${either("json_group_array(json_array(run_step, reward))", "json_agg(json_build_array(run_step, reward))")} AS rewards
  FROM (SELECT cohorts.run_step AS run_step, episodes.environment AS environment, episodes.task AS task,
    ${DIFFICULTY} AS difficulty, ${GROUP_REWARD} AS reward ${GROUPS} HAVING MAX(cohorts.purpose) = 'train' ORDER BY cohorts.run_step, episodes.group_key) AS played
  GROUP BY environment, task ORDER BY COUNT(*) DESC, environment, task LIMIT :limit`;

const BATCH_STATE = `(SELECT CASE is_refused WHEN 0 THEN 'taken' ELSE 'refused' END FROM batches
  WHERE batches.group_key = episodes.group_key AND batches.learner = cohorts.learner AND batches.is_abandoned = 0)`;

/** Columns of `v_episodes`. */
export const EPISODE_COLUMNS: readonly ViewColumn[] = [
  ...PLACE,
  column(
    "agent",
    "text",
    "parts.agent",
    "the agent, for example `agent` or `browser#2`; null where the episode failed before any agent acted",
  ),
  column("role", "text", "parts.role", "its role, for example `browser`"),
  column("player_kind", "text", "parts.player_kind", "`policy`, `past`, `model`, `endpoint` or `scripted`"),
  column("player", "text", "parts.player", "name of the player"),
  column("policy", "text", "parts.policy", "the policy that played; null for other players"),
  column("version", "integer", "parts.version", "its weight version at the start of the episode, where known"),
  column("reward", "real", "parts.reward", "sum of the agent's rewards; null where it is unscored"),
  column(
    "shared_reward",
    "real",
    jsonReal("parts.shared", "'value'"),
    "what the agent learns from where roles share rewards, null if unscored; null elsewhere",
  ),
  column("components", "json", jsonOf("parts.total", "'components'"), "parts of the reward by name"),
  column(
    "unscored",
    "text",
    jsonText("parts.total", "'code'"),
    "error code where the reward could not be computed, else null",
  ),
  column("terminated", "integer", "parts.terminated", "1: the environment ended the episode"),
  column("truncated", "integer", "parts.truncated", "1: a limit ended it"),
  column("truncated_by", "text", "parts.truncated_by", "`environment`, `turns` or `tokens`"),
  column("turns", "integer", "parts.turns", "turns of the agent"),
  column("tokens", "integer", "parts.tokens", "sampled tokens of the agent"),
  column("oldest_version", "integer", "parts.oldest_version", "lowest weight version of its sampled tokens"),
  column("newest_version", "integer", "parts.newest_version", "highest weight version of its sampled tokens"),
  column("error", "text", jsonText("episodes.error", "'code'"), "error code of an episode that failed, else null"),
  column("error_message", "text", jsonText("episodes.error", "'message'"), "its message"),
  column("info", "json", jsonOf("episodes.info"), "what the environment returned about the episode"),
  column("seconds_sampling", "real", "episodes.seconds_sampling", "seconds in which it waited for the sampler"),
  column(
    "seconds_environment",
    "real",
    "episodes.seconds_environment",
    "seconds in which it waited for the environment",
  ),
  column(
    "seconds_players",
    "real",
    "episodes.seconds_players",
    "seconds in which it waited for policies of plugins; null if none acted",
  ),
  column(
    "state",
    "text",
    `CASE WHEN cohorts.state = 'abandoned' THEN 'abandoned' WHEN cohorts.state <> 'committed' THEN 'incomplete'
     WHEN cohorts.purpose <> 'train' THEN 'recorded' ELSE COALESCE(${BATCH_STATE}, 'ready') END`,
    "`ready`: no learner has taken it; `taken`: in a batch that is learnt from; `refused`: left out of it; `recorded`: of an evaluation or collection; `abandoned`: played anew; `incomplete`: under way or interrupted",
  ),
];

const RESPONSE_PARTS = either(
  "json_each(turns.content, '$.response.parts') AS part",
  "json_array_elements(as_json(turns.content) -> 'response' -> 'parts') AS part (value)",
);
const RESPONSE_TEXT = `(SELECT string_agg(part.value ->> 'text', '') FROM ${RESPONSE_PARTS} WHERE part.value ->> 'type' = 'text')`;

const NUMBERS = either(
  "json_tree(metrics.content) AS node ON node.type IN ('integer', 'real')",
  "LATERAL json_numbers(metrics.content) AS node ON TRUE",
);

/** Every view, in the order of the reference. */
export const VIEWS: readonly View[] = [
  {
    name: "v_episodes",
    meaning:
      "One row for each agent's part of an episode. Episodes that were played anew, and those that are not complete, are left out.",
    from: `FROM ${EPISODES} WHERE ${IS_WHOLE}`,
    columns: EPISODE_COLUMNS,
  },
  {
    name: "v_turns",
    meaning: "One row for each turn of an episode of `v_episodes`.",
    from: `FROM turns JOIN episodes ON episodes.key = turns.episode JOIN cohorts ON cohorts.key = episodes.cohort
      WHERE ${IS_WHOLE}`,
    columns: [
      ...PLACE,
      column("turn", "integer", "turns.position", "index of the turn in the episode, from 0"),
      column("agent", "text", "turns.agent", "the agent that acted"),
      column("text", "text", RESPONSE_TEXT, "text of its response"),
      column("response", "json", jsonOf("turns.content", "'response'"), "its message, with tool calls"),
      column("messages", "json", jsonOf("turns.content", "'messages'"), "new messages of the observation before it"),
      column(
        "reward",
        "real",
        jsonReal("turns.content", "'rewards'", "turns.agent", "'value'"),
        "reward of the agent for this step",
      ),
      column(
        "stop_reason",
        "text",
        jsonText("turns.content", "'stopReason'"),
        "`stop`, `length`, `cancelled` or `exhausted`",
      ),
      column(
        "tokens",
        "integer",
        `${jsonInteger("turns.content", "'tokens'", "'end'")} - ${jsonInteger("turns.content", "'tokens'", "'start'")}`,
        "sampled tokens of the turn; null where no model acted",
      ),
    ],
  },
  {
    name: "v_groups",
    meaning: "One row for each group of `v_episodes`: the pass rate of its task at that time.",
    from: GROUPS,
    columns: [
      ...PLACE.filter(({ name }) => !["seed", "group_id", "member", "episode", "episode_key"].includes(name)),
      column(
        "difficulty",
        "real",
        DIFFICULTY,
        "difficulty of the task (`info.difficulty` of the first observation); else null",
      ),
      column("parts", "integer", "COUNT(parts.episode)", "parts of episodes that trained policies played"),
      column(
        "scored",
        "integer",
        "COUNT(CASE WHEN episodes.error IS NULL THEN parts.reward END)",
        "those with a reward, of episodes that did not fail",
      ),
      column("reward", "real", GROUP_REWARD, "their mean reward"),
    ],
  },
  {
    name: "v_steps",
    meaning: "One row for each batch of the log. Rows of state `abandoned` stand beside those that replaced them.",
    from: `FROM steps JOIN takes AS first ON first.step = steps.key AND first.refill = 0
      JOIN takes AS last ON last.step = steps.key AND last.refill = (SELECT MAX(refill) FROM takes WHERE takes.step = steps.key)`,
    columns: [
      column("learner", "text", "steps.learner", "`STAGE/POLICY`"),
      column("step", "integer", "steps.step", "number of the learner's take, from 1"),
      column("run_step", "integer", "first.run_step", "step of the run that learns from it first"),
      column("iteration", "integer", "first.iteration", "iteration of the stage that learns from it first, from 1"),
      column(
        "state",
        "text",
        "steps.state",
        "`taken`: it is being learnt; `applied`: it has been; `abandoned`: played anew",
      ),
      column("version", "integer", "last.version", "weight version from which ages of its tokens count"),
      column(
        "checksum",
        "text",
        "steps.checksum",
        "checksum of the weights that played; null where the engine has none",
      ),
      column("refills", "integer", "last.refill", "rounds of replacements"),
      column(
        "groups",
        "integer",
        "(SELECT COUNT(*) FROM batches WHERE batches.step = steps.key)",
        "groups of all rounds",
      ),
      column(
        "refused",
        "integer",
        "(SELECT COUNT(*) FROM batches WHERE batches.step = steps.key AND batches.is_refused <> 0)",
        "groups that are not learnt from",
      ),
      column("replays", "integer", "steps.replays", "how many times a resumed run took it again from the log"),
      column(
        "process",
        "integer",
        "steps.incarnation",
        "number of the process that logged it; each start and resume counts",
      ),
      column("tasks", "json", jsonOf("last.tasks"), "position of the task order after it"),
    ],
  },
  {
    name: "v_staleness",
    meaning: "Ages of the tokens of each batch, in weight versions, over the groups that are learnt from.",
    from: `${STALENESS} GROUP BY steps.key, takes.step, takes.refill, parts.policy`,
    columns: [
      column("learner", "text", "steps.learner", "`STAGE/POLICY`"),
      column("step", "integer", "steps.step", "number of the learner's take, from 1"),
      column("run_step", "integer", "takes.run_step", "step of the run that learns from it first"),
      column("policy", "text", "parts.policy", "the policy that played"),
      column(
        "version",
        "integer",
        "takes.version",
        "weight version from which ages count: of the first policy that learns",
      ),
      column("oldest_version", "integer", "MIN(parts.oldest_version)", "lowest weight version of a sampled token"),
      column("newest_version", "integer", "MAX(parts.newest_version)", "highest weight version of a sampled token"),
      column("max_age", "integer", "takes.version - MIN(parts.oldest_version)", "age of the oldest token"),
      column("parts", "integer", "COUNT(*)", "agents' parts of episodes"),
      column(
        "stale_parts",
        "integer",
        "SUM(CASE WHEN parts.oldest_version < takes.version THEN 1 ELSE 0 END)",
        "parts with a token that is older than `version`",
      ),
    ],
  },
  {
    name: "v_credits",
    meaning: "One row for each agent's part that an algorithm has learnt from, with its signal.",
    from: `FROM credits JOIN steps ON steps.key = credits.step JOIN episodes ON episodes.key = credits.episode WHERE steps.state <> 'abandoned'`,
    columns: [
      column("learner", "text", "steps.learner", "`STAGE/POLICY`"),
      column("step", "integer", "steps.step", "number of the learner's take, from 1"),
      column("episode", "text", "episodes.id", "id of the episode"),
      column("episode_key", "integer", "episodes.key", "number of the episode"),
      column("agent", "text", "credits.agent", "the agent"),
      column("advantage", "real", "credits.advantage", "its advantage; the mean where each token has one"),
      column(
        "tokens",
        "integer",
        "length(credits.advantages) / 4",
        "tokens that have an advantage each; null where the part has one",
      ),
    ],
  },
  {
    name: "v_metrics",
    meaning: "One row for each number of metrics.jsonl, which stays the source.",
    from: `FROM metrics JOIN ${NUMBERS} WHERE node.fullkey NOT IN ('$.step', '$.iteration')`,
    columns: [
      column("step", "integer", "metrics.step", "step of the run"),
      column("kind", "text", jsonText("metrics.content", "'kind'"), "`iteration` or `evaluation`"),
      column("stage", "text", jsonText("metrics.content", "'stage'"), "name of the stage"),
      column("environment", "text", jsonText("metrics.content", "'environment'"), "of an evaluation"),
      column(
        "section",
        "text",
        "substr(node.path, 3)",
        "place of the number in the row, for example `metrics`, `seconds` or `greedy`",
      ),
      column("name", "text", "CAST(node.key AS TEXT)", "name of the number, for example `reward/mean`"),
      column("value", "real", "node.value", "the number"),
    ],
  },
  {
    name: "v_all_episodes",
    meaning: "`v_episodes` with those that were played anew or are not complete, of state `abandoned` or `incomplete`.",
    from: `FROM ${EPISODES}`,
    columns: EPISODE_COLUMNS,
  },
];

/** Creates the views. */
export const VIEW_SCHEMA = VIEWS.map(
  ({ name, from, columns }) =>
    `CREATE VIEW ${name} AS SELECT ${columns.map((each) => `${each.value} AS ${each.name}`).join(", ")} ${from};`,
).join("\n");
