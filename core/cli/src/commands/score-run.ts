import { type JudgedOutcome, loadConfig, LocalHost, ReplacedGraders, RunDirectory, scoreRun } from "@mrlm/runtime";
import { isDeepStrictEqual } from "node:util";
import { type JsonObject, MrlmError, type Reward } from "@mrlm/spec";
import type { NumberedEpisode } from "@mrlm/store";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import type { ScoreRunOptions } from "../declarations/score.ts";
import { graderPlugins } from "../services/grader-plugins.ts";
import { environmentsOf, storedEpisodes } from "../services/stored-episodes.ts";
import { plainJson } from "../services/plain-json.ts";

/** Episodes that are listed. */
const LISTED = 20;

/** Scores the stored episodes of a run again by their environments, with another scorer where one is given, and prints which rewards differ. Rejects if none could be repeated. */
export async function scoreStored({ console, directory }: CommandContext, args: ScoreRunOptions): Promise<void> {
  const run = RunDirectory.open(args.run);
  const stored = storedEpisodes(run, args.task, args.numEpisodes);
  const loaded = loadConfig(run.configPath);
  const logger = lineLogger((line) => console.note(line));
  const plugins = await graderPlugins({
    ...{ directory, loaded, kind: "scorer", id: args.scorer ?? "", options: args.judgeOptions ?? {} },
    note: (line) => console.note(line),
  });
  const replaced =
    args.scorer === undefined
      ? undefined
      : new ReplacedGraders(plugins, { scorer: await plugins.service("scorer", args.scorer, "the option --scorer") });
  const source = replaced ?? plugins;
  const host = new LocalHost({ source, logger, dataDirectory: loaded.config.base_directory });
  try {
    if (replaced !== undefined) {
      for (const environment of environmentsOf(loaded)) await host.describe(environment);
      if (replaced.replaced.size === 0)
        throw new MrlmError("USAGE", `No environment of ${run.path} requires a scorer.`, {
          hint: "mrlm score --scorer scores the rows of a query: --run RUN --query SQL.",
        });
    }
    const trajectories = stored.map(({ trajectory }) => trajectory);
    const outcomes: JudgedOutcome[] = [];
    const differing: string[] = [];
    for await (const outcome of scoreRun(host, environmentsOf(loaded), trajectories, new AbortController().signal)) {
      const episode = stored[outcomes.length] as NumberedEpisode;
      const changed = changesOf(outcome);
      console.emit(eventOf(outcome, episode, changed.length === 0));
      if (changed.length > 0) differing.push(described(episode, changed));
      outcomes.push(outcome);
    }
    const count = (kind: JudgedOutcome["kind"]): number => outcomes.filter((outcome) => outcome.kind === kind).length;
    const [repeated, failed, lost] = [count("judged"), count("failed"), count("lost")];
    const firstLost = outcomes.find((outcome) => outcome.kind === "lost")?.error;
    console.emit({
      ...{ event: "scored", episodes: stored.length, repeated, equal: repeated - differing.length },
      ...{ differ: differing.length, failed, lost },
    });
    if (repeated === 0 && firstLost !== undefined) throw firstLost;
    console.print(
      [
        `${repeated} of ${stored.length} episodes repeated: ${repeated - differing.length} earn the stored rewards, ${differing.length} earn others`,
        ...differing.slice(0, LISTED).map((text) => `  ${text}`),
        ...(differing.length > LISTED ? [`  and ${differing.length - LISTED} more: --json prints all`] : []),
        ...(failed === 0 ? [] : [`${failed} had failed in the run`]),
        ...(firstLost === undefined
          ? []
          : [`${lost} could not be repeated, the first: ${firstLost.code}: ${firstLost.message}`]),
      ].join("\n"),
    );
  } finally {
    await host.close();
  }
}

/** Rewards of an agent that differ. */
interface Change {
  readonly agent: string;
  readonly before: Reward | undefined;
  readonly after: Reward | undefined;
}

function changesOf(outcome: JudgedOutcome): Change[] {
  if (outcome.kind !== "judged") return [];
  const { before, after } = outcome.episode;
  return Object.keys({ ...before, ...after }).flatMap((agent) =>
    isDeepStrictEqual(comparable(before[agent]), comparable(after[agent]))
      ? []
      : [{ agent, before: before[agent], after: after[agent] }],
  );
}

/** The message of a reward that could not be computed may name a time or a process. */
function comparable(reward: Reward | undefined): unknown {
  return reward?.scored === false ? reward.code : reward;
}

function described({ key, step, stage, trajectory }: NumberedEpisode, changes: readonly Change[]): string {
  const rewards = changes.map(({ agent, before, after }) => `${agent} ${valueText(before)} > ${valueText(after)}`);
  return `${trajectory.task} of ${trajectory.environment} (${stage}, step ${step}, episode_key ${key}): ${rewards.join(", ")}`;
}

function valueText(reward: Reward | undefined): string {
  if (reward === undefined) return "none";
  if (!reward.scored) return reward.code;
  const parts = Object.entries(reward.components).map(([name, value]) => `${name} ${value}`);
  return `${reward.value}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`;
}

function eventOf(
  outcome: JudgedOutcome,
  { key, step, stage, trajectory: { id, environment, task } }: NumberedEpisode,
  isEqual: boolean,
): JsonObject {
  const common = {
    ...{ event: "episode", outcome: outcome.kind === "judged" ? (isEqual ? "equal" : "differs") : outcome.kind },
    ...{ id, episode_key: key, step, stage, environment, task },
  };
  if (outcome.kind === "lost")
    return { ...common, error: { code: outcome.error.code, message: outcome.error.message } };
  if (outcome.kind !== "judged") return common;
  const { before, after } = outcome.episode;
  return plainJson({ ...common, before, after });
}
