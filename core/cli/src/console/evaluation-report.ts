import type { EpisodeSummary, EvaluationResult, Interval, MatchSummary } from "@mrlm/runtime";
import { decimal, grouped, percent } from "./numbers.ts";
import { table } from "./table.ts";

/** Formats an evaluation for people: a row for each number of the greedy and the sampled episodes, and pass@k. */
export function evaluationReport(result: EvaluationResult): string {
  const kinds = [
    ["greedy", result.greedy] as const,
    ...(result.sampled === undefined ? [] : [["sampled", result.sampled] as const]),
  ];
  const names = [...new Set(kinds.flatMap(([, { components }]) => Object.keys(components)))].sort();
  const tools = [...new Set(kinds.flatMap(([, summary]) => Object.keys(summary.tools ?? {})))].sort();
  const row = (
    name: string,
    show: (summary: EpisodeSummary) => readonly [value: string, interval?: string],
  ): string[] => [name, ...kinds.flatMap(([, summary]) => [show(summary)[0], show(summary)[1] ?? ""])];
  const rows = [
    ["", ...kinds.flatMap(([kind]) => [kind, "95 %"])],
    row("episodes", ({ episodes }) => [String(episodes)]),
    row("accuracy", ({ accuracy, intervals }) => [decimal(accuracy), range(intervals.accuracy)]),
    ...(kinds.some(([, { strictAccuracy }]) => strictAccuracy !== undefined)
      ? [
          row("  failed as wrong", ({ accuracy, strictAccuracy = accuracy, intervals }) => [
            decimal(strictAccuracy),
            range(intervals.strictAccuracy ?? intervals.accuracy),
          ]),
        ]
      : []),
    row("reward", ({ reward, intervals }) => [decimal(reward), range(intervals.reward)]),
    ...names.map((name) =>
      row(`reward: ${name}`, ({ components, intervals }) => [
        decimal(components[name]),
        range(intervals.components[name]),
      ]),
    ),
    row("tokens", ({ tokens }) => [tokens?.toFixed(1) ?? "-"]),
    row("tokens in all", ({ cost }) => [cost === undefined ? "-" : grouped(cost.sampledTokens + cost.readTokens)]),
    row("seconds", ({ cost, episodes }) => [cost === undefined ? "-" : (cost.seconds / episodes).toFixed(2)]),
    ...tools.flatMap((tool) => [
      row(`calls of ${tool}`, ({ tools: used }) => [decimal(used?.[tool]?.calls ?? 0)]),
      row(`errors of ${tool}`, ({ tools: used }) => [decimal(used?.[tool]?.errors ?? 0)]),
    ]),
    ...(kinds.some(([, { malformedCalls }]) => malformedCalls !== undefined)
      ? [row("malformed calls", ({ malformedCalls = 0 }) => [decimal(malformedCalls)])]
      : []),
    ...matchRows(kinds),
    row("cut answers", ({ cut }) => [percent(cut)]),
    ...(kinds.some(([, { undecided }]) => undecided !== undefined)
      ? [row("undecided answers", ({ undecided = null }) => [percent(undecided)])]
      : []),
    row("tasks to show +5 points", ({ tasksToShow }) => [tasksToShow === undefined ? "-" : String(tasksToShow)]),
    row("truncated", ({ truncated }) => [String(truncated)]),
    row("unscored", ({ unscored }) => [String(unscored)]),
    row("failed", ({ failed }) => [String(failed)]),
    ...(kinds.some(([, { outOfRange }]) => outOfRange !== undefined)
      ? [row("out of range", ({ outOfRange = 0 }) => [String(outOfRange)])]
      : []),
  ];
  return [table(rows), ...causes(result), ...passTable(result)].join("\n\n");
}

/** Describes the tasks of an evaluation: "1000 held-out tasks (406 different)". */
export function tasksOf({ tasks, greedy }: EvaluationResult, name = "tasks"): string {
  const { differentTasks } = greedy;
  return `${tasks} ${name}${differentTasks === undefined ? "" : ` (${differentTasks} different)`}`;
}

/** Returns the rows of roles and opponents: rewards, and in a zero-sum game the games won and tied. */
function matchRows(kinds: readonly (readonly [string, EpisodeSummary])[]): string[][] {
  const opponents = kinds.flatMap(([, { matches: played = [] }]) => played.map(({ opponent }) => opponent));
  const paths = [...new Set(opponents.flatMap(({ kind, name }) => (kind === "model" ? [name] : [])))];
  const named = (summary: EpisodeSummary): ReadonlyMap<string, MatchSummary> =>
    new Map(summary.matches?.map((match) => [matchName(match, paths), match]));
  const matches = kinds.map(([, summary]) => named(summary));
  const rowOf = (
    title: string,
    show: (index: number) => readonly [value: string, interval?: string] | undefined,
  ): string[] => [title, ...kinds.flatMap((_, i) => [show(i)?.[0] ?? "-", show(i)?.[1] ?? ""])];
  const roles = [...new Set(kinds.flatMap(([, { sides }]) => Object.keys(sides ?? {})))];
  return [
    ...roles.map((role) => rowOf(`plays ${role}`, (i) => [percent(kinds[i]?.[1].sides?.[role])])),
    ...[...new Set(matches.flatMap((each) => [...each.keys()]))].flatMap((name) => [
      rowOf(`reward ${name}`, (i) => [decimal(matches[i]?.get(name)?.reward)]),
      ...(matches.some((each) => each.get(name)?.games !== undefined)
        ? [
            rowOf(`wins ${name}`, (i) => {
              const games = matches[i]?.get(name)?.games;
              return [decimal(games?.winRate), range(games?.interval)];
            }),
            rowOf(`ties ${name}`, (i) => [String(matches[i]?.get(name)?.games?.tied ?? "-")]),
          ]
        : []),
    ]),
  ];
}

/** @param paths of all models among the opponents */
function matchName({ role, policy, opponent }: MatchSummary, paths: readonly string[]): string {
  const { kind, name } = opponent;
  const shown = kind === "model" ? shortPath(name, paths) : name;
  return `as ${role} against ${kind === "policy" && name === policy ? "itself" : `${kind} ${shown}`}`;
}

/** Returns the last parts of a path, at least two: as many as distinguish it from the others. */
function shortPath(path: string, paths: readonly string[]): string {
  const others = paths.filter((other) => other !== path);
  const { length } = path.split(SEPARATOR);
  for (let count = 2; count < length; count++) {
    const end = endOf(path, count);
    if (others.every((other) => endOf(other, count) !== end)) return end;
  }
  return path;
}

const SEPARATOR = /[/\\]/;
const endOf = (path: string, count: number): string => path.split(SEPARATOR).slice(-count).join("/");

/** Returns the share of cut answers of the greedy and the sampled episodes together; `null` if unknown. */
export function cutAnswers({
  greedy,
  sampled,
}: {
  readonly greedy: EpisodeSummary;
  readonly sampled?: EpisodeSummary | undefined;
}): number | null {
  const known = [greedy, ...(sampled === undefined ? [] : [sampled])].filter(({ cut }) => typeof cut === "number");
  const episodes = known.reduce((sum, summary) => sum + summary.episodes, 0);
  return episodes === 0
    ? null
    : known.reduce((sum, summary) => sum + (summary.cut as number) * summary.episodes, 0) / episodes;
}

/** Returns the first failure and the first reason for a missing score; later ones mostly have the same cause. */
function causes({ greedy, sampled }: EvaluationResult): string[] {
  const failed = greedy.firstError ?? sampled?.firstError;
  const unscored = greedy.firstUnscored ?? sampled?.firstUnscored;
  const outOfRange = greedy.firstOutOfRange ?? sampled?.firstOutOfRange;
  const lines = [
    ...(outOfRange === undefined ? [] : [`rewards out of range, the first: ${outOfRange}`]),
    ...(failed === undefined ? [] : [`failed, the first: ${failed}`]),
    ...(unscored === undefined ? [] : [`without a score, the first: ${unscored}`]),
  ];
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function passTable({ sampled }: EvaluationResult): string[] {
  if (sampled === undefined || sampled.passAtK.length === 0) return [];
  const most = sampled.passAtK.at(-1)?.k;
  const row = (name: string, value: number | null, interval: Interval | null, tasks: number): string[] => [
    ...[name, decimal(value), range(interval), String(tasks)],
  ];
  return [
    table([
      ["", "chance", "95 %", "tasks"],
      ...sampled.passAtK.map(({ k, value, interval, tasks }) => row(`pass@${k}`, value, interval, tasks)),
      ...sampled.passAtK
        .filter(({ k }) => k > 1)
        .map(({ k, all, tasks }) => row(`pass^${k}`, all.value, all.interval, tasks)),
      row(`avg@${most}`, sampled.accuracy, sampled.intervals.accuracy, sampled.passAtK[0]?.tasks ?? 0),
    ]),
  ];
}

function range(interval: Interval | null | undefined): string {
  return interval === null || interval === undefined ? "-" : `${decimal(interval[0])} - ${decimal(interval[1])}`;
}
