import type { SQLInputValue } from "node:sqlite";
import { MrlmError } from "@mrlm/spec";
import type { Database } from "./database.ts";
import { either, jsonReal, jsonText } from "./sql.ts";
import { EPISODE_COLUMNS, EPISODES, IS_WHOLE, type ViewColumn } from "./views.ts";

/** Smallest and largest value, both included; `null` for no bound. */
export type Range = readonly [from: number | null, to: number | null];

/** Conditions that all listed parts of episodes fulfil. */
export interface EpisodeFilter {
  /** Equal values, by column of `v_episodes`: `{ role: "browser" }`. `task` is also the name of a split. */
  readonly equal?: Readonly<Record<string, string | number>>;
  /** Ranges, by column: `{ reward: [0.5, null], run_step: [10, 20] }`. */
  readonly within?: Readonly<Record<string, Range>>;
  /** Ranges of components of the reward, by name. */
  readonly components?: Readonly<Record<string, Range>>;
  /** Episodes that failed, whose reward is unscored, or neither. */
  readonly outcome?: "failed" | "unscored" | "scored";
  /** Only groups in which all rewards of the role are equal. */
  readonly withoutSignal?: boolean;
}

/** Page of a list of parts of episodes. */
export interface EpisodePage {
  readonly filter: EpisodeFilter;
  /** Column; descending with `-` before it. Parts without a value come last. */
  readonly sort: string;
  readonly offset: number;
  readonly limit: number;
}

/** Value of a column. */
export type ListedValue = string | number | null;

/** Parts of episodes that fulfil a filter: a page of them, and measures of all. */
export interface EpisodeList {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ListedValue[])[];
  readonly total: number;
  readonly scored: number;
  readonly meanReward: number | null;
  /** Counts of rewards in intervals of equal width from `from` to `to`; the last one includes `to`. Empty without a scored part. */
  readonly histogram: { readonly from: number; readonly to: number; readonly counts: readonly number[] };
}

/** Step of the batch log that learns from an episode. */
const STEP = `SELECT steps.key FROM steps WHERE steps.learner = cohorts.learner AND steps.step = cohorts.step AND steps.state <> 'abandoned'`;

/** Columns of the list: those of `v_episodes`, and more. */
export const LIST_COLUMNS: readonly ViewColumn[] = [
  // Long values are those of the episode itself.
  ...EPISODE_COLUMNS.filter(({ name }) => name !== "info"),
  {
    name: "stop_reason",
    type: "text",
    meaning: "why the agent's last turn ended: `stop`, `length`, `cancelled` or `exhausted`",
    value: `(SELECT ${jsonText("turns.content", "'stopReason'")} FROM turns WHERE turns.episode = episodes.key AND turns.agent = parts.agent
      ORDER BY turns.position DESC LIMIT 1)`,
  },
  {
    name: "age",
    type: "integer",
    meaning: "age of its oldest sampled token in weight versions, when it is learnt from",
    value: `(SELECT MAX(takes.version) FROM takes WHERE takes.step = (${STEP})) - parts.oldest_version`,
  },
  {
    name: "advantage",
    type: "real",
    meaning: "its advantage; the mean where each token has one",
    value: `(SELECT credits.advantage FROM credits WHERE credits.step = (${STEP}) AND credits.episode = episodes.key AND credits.agent = parts.agent)`,
  },
];

const COLUMNS = new Map(LIST_COLUMNS.map((column) => [column.name, column]));
const VALUES = LIST_COLUMNS.map(({ name, value }) => `${value} AS ${name}`).join(", ");

/** Columns with few values, which a person chooses from. */
const CHOSEN = [
  "purpose",
  "stage",
  "environment",
  "role",
  "player_kind",
  "player",
  "policy",
  "state",
  "unscored",
  "error",
  "truncated_by",
  "stop_reason",
];
const MAX_CHOICES = 50;

const WITHOUT_SIGNAL = `(episodes.group_key, parts.role) IN (SELECT e.group_key, p.role FROM episodes AS e JOIN parts AS p ON p.episode = e.key
  WHERE e.error IS NULL GROUP BY 1, 2 HAVING COUNT(*) > 1 AND MIN(p.reward) = MAX(p.reward))`;

const OUTCOMES = {
  failed: "episodes.error IS NOT NULL",
  unscored: "episodes.error IS NULL AND parts.reward IS NULL",
  scored: "parts.reward IS NOT NULL",
} as const;

const BINS = 20;

/** Components of the reward of a part, by name. */
const COMPONENTS = either(
  "json_each(parts.total, '$.components') AS component",
  "LATERAL json_object_keys(as_json(parts.total) -> 'components') AS component (key)",
);

type Parameters = Record<string, SQLInputValue>;

/** Lists parts of episodes, without those that were played anew. Throws QUERY_INVALID for an unknown column, or a range of one that is no number. */
export function listEpisodes(database: Database, { filter, sort, offset, limit }: EpisodePage): EpisodeList {
  const parameters: Parameters = {};
  const from = `FROM ${EPISODES} WHERE ${conditions(filter, parameters).join(" AND ")}`;
  const isDescending = sort.startsWith("-");
  const order = `${valueOf(isDescending ? sort.slice(1) : sort)} ${isDescending ? "DESC" : "ASC"} NULLS LAST, episodes.key DESC, parts.position`;
  // The keys of the page come first: a sort would carry all columns of all rows.
  const keys = `SELECT episodes.key AS key, parts.position AS position ${from} ORDER BY ${order} LIMIT :page_limit OFFSET :page_offset`;
  const rows = database
    .prepare(
      `WITH page AS (${keys}) SELECT ${VALUES} FROM page JOIN episodes ON episodes.key = page.key JOIN cohorts ON cohorts.key = episodes.cohort
       LEFT JOIN parts ON parts.episode = page.key AND parts.position = page.position ORDER BY ${order}`,
    )
    .all({ ...parameters, page_limit: limit, page_offset: offset });
  const [measures] = database
    .prepare(
      `SELECT COUNT(*) AS total, COUNT(parts.reward) AS scored, AVG(parts.reward) AS mean, MIN(parts.reward) AS least, MAX(parts.reward) AS most ${from}`,
    )
    .all(parameters) as unknown as [
    { total: number; scored: number; mean: number | null; least: number; most: number },
  ];
  const { total, scored, mean: meanReward, least, most } = measures;
  const counts = scored === 0 ? [] : countsOf(database, from, parameters, [least, most]);
  return {
    columns: [...COLUMNS.keys()],
    rows: rows.map((row) => LIST_COLUMNS.map(({ name }) => row[name] as ListedValue)),
    total,
    scored,
    meanReward,
    histogram: { from: least ?? 0, to: most ?? 0, counts },
  };
}

/** Returns the values of each column with few of them, and the names of components of rewards, the most frequent first. */
export function listChoices(database: Database): Record<string, readonly string[]> {
  const valuesOf = (value: string, from: string): string[] =>
    database
      .prepare(
        `SELECT ${value} AS value FROM ${from} WHERE ${IS_WHOLE} AND ${value} IS NOT NULL GROUP BY 1 ORDER BY COUNT(*) DESC, 1 LIMIT ${MAX_CHOICES}`,
      )
      .all()
      .map(({ value: found }) => String(found));
  return {
    ...Object.fromEntries(CHOSEN.map((column) => [column, valuesOf(valueOf(column), EPISODES)])),
    split: valuesOf(
      either("substr(episodes.task, 1, instr(episodes.task, '/') - 1)", "split_part(episodes.task, '/', 1)"),
      EPISODES,
    ),
    component: valuesOf("component.key", `${EPISODES} JOIN ${COMPONENTS} ON TRUE`),
  };
}

function countsOf(database: Database, from: string, parameters: Parameters, [least, most]: [number, number]): number[] {
  const counts = Array.from({ length: BINS }, () => 0);
  const width = (most - least) / BINS;
  const bin = width === 0 ? "0" : "CAST(FLOOR((parts.reward - :least) / :width) AS INTEGER)";
  const rows = database
    .prepare(`SELECT ${bin} AS bin, COUNT(*) AS count ${from} AND parts.reward IS NOT NULL GROUP BY 1`)
    .all({ ...parameters, ...(width === 0 ? {} : { least, width }) });
  for (const { bin: at, count } of rows) (counts[Math.min(Number(at), BINS - 1)] as number) += Number(count);
  return counts;
}

function conditions(
  { equal, within, components, outcome, withoutSignal }: EpisodeFilter,
  parameters: Parameters,
): string[] {
  const bind = (value: string | number): string => {
    const name = `p${Object.keys(parameters).length}`;
    parameters[name] = value;
    return `CAST(:${name} AS ${typeof value === "number" ? "DOUBLE PRECISION" : "TEXT"})`;
  };
  const range = (value: string, [from, to]: Range): string[] => [
    ...(from === null ? [] : [`${value} >= ${bind(from)}`]),
    ...(to === null ? [] : [`${value} <= ${bind(to)}`]),
  ];
  return [
    IS_WHOLE,
    ...Object.entries(equal ?? {}).map(([column, value]) =>
      column === "task" ? isOfTask(bind(value)) : `${valueOf(column)} = ${bind(value)}`,
    ),
    ...Object.entries(within ?? {}).flatMap(([column, each]) => range(numberOf(column), each)),
    ...Object.entries(components ?? {}).flatMap(([name, each]) =>
      range(jsonReal("parts.total", "'components'", bind(name)), each),
    ),
    ...(outcome === undefined ? [] : [OUTCOMES[outcome]]),
    ...(withoutSignal === true ? [WITHOUT_SIGNAL] : []),
  ];
}

/** A task id, or the tasks of a split. */
function isOfTask(parameter: string): string {
  return `(episodes.task = ${parameter} OR substr(episodes.task, 1, length(${parameter}) + 1) = ${parameter} || '/')`;
}

/** SQL of a column that is compared and sorted. */
function valueOf(column: string): string {
  const { type, value } = columnOf(column);
  return type === "json" ? `CAST(${value} AS TEXT)` : value;
}

function numberOf(column: string): string {
  const { type, value } = columnOf(column);
  if (type === "integer" || type === "real") return value;
  throw new MrlmError("QUERY_INVALID", `The column "${column}" holds no numbers: it has no ranges.`, {
    hint: "Filter it by an equal value.",
  });
}

function columnOf(name: string): ViewColumn {
  const column = COLUMNS.get(name);
  if (column !== undefined) return column;
  throw new MrlmError("QUERY_INVALID", `The list of episodes has no column "${name}".`, {
    hint: `Its columns: ${[...COLUMNS.keys()].join(", ")}.`,
  });
}
