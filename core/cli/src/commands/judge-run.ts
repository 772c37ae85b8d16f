import {
  agreementOf,
  type Agreement,
  judgeRun,
  type JudgedOutcome,
  loadConfig,
  LocalHost,
  ReplacedGraders,
  RunDirectory,
} from "@mrlm/runtime";
import { defined, type JsonObject, MrlmError, type Reward } from "@mrlm/spec";
import type { EnvironmentRef } from "@mrlm/spec/host";
import type { NumberedEpisode } from "@mrlm/store";
import type { CommandContext } from "../command-context.ts";
import { type AgreementCounts, agreementReport } from "../console/agreement-report.ts";
import type { ScoreRunOptions } from "../declarations/score.ts";
import { graderPlugins } from "../services/grader-plugins.ts";
import { environmentsOf, storedEpisodes } from "../services/stored-episodes.ts";

/** Judges the stored episodes of a run by another judge, and prints the agreement of the old and the new scores. */
export async function judgeStored(
  { console, directory }: CommandContext,
  args: ScoreRunOptions & { readonly judge: string },
): Promise<void> {
  const run = RunDirectory.open(args.run);
  const stored = storedEpisodes(run, args.task, args.numEpisodes);
  const loaded = loadConfig(run.configPath);
  const plugins = await graderPlugins({
    ...{ directory, loaded, kind: "judge", id: args.judge, options: args.judgeOptions ?? {} },
    note: (line) => console.note(line),
  });
  const source = new ReplacedGraders(plugins, {
    judge: await plugins.service("judge", args.judge, "the option --judge"),
  });
  const judge = plugins.registry.resolve("judge", args.judge) ?? args.judge;
  const host = new LocalHost({ source, dataDirectory: loaded.config.base_directory });
  try {
    const environments = environmentsOf(loaded);
    for (const environment of environments) await host.describe(environment);
    if (source.replaced.size === 0)
      throw new MrlmError("USAGE", `No environment of ${run.path} has a judge: ${names(environments)}.`, {
        hint: "mrlm score --scorer scores the rows of a query: --run RUN --query SQL.",
      });
    const outcomes: JudgedOutcome[] = [];
    const trajectories = stored.map(({ trajectory }) => trajectory);
    for await (const outcome of judgeRun(host, environments, trajectories, new AbortController().signal)) {
      console.emit(eventOf(outcome, stored[outcomes.length] as NumberedEpisode, judge));
      outcomes.push(outcome);
    }
    const judged = outcomes.flatMap((outcome) => (outcome.kind === "judged" ? [outcome.episode] : []));
    const agreement = agreementOf(judged);
    const counts = countsOf(outcomes);
    const before = [...source.replaced].sort();
    console.print(agreementReport(agreement, counts, { before, after: judge }));
    console.emit({ event: "agreement", judges_before: before, judge, ...toJson(agreement, counts) });
    const { firstLost } = counts;
    if (judged.length === 0 && firstLost !== undefined) throw firstLost;
  } finally {
    await host.close();
  }
}

function names(environments: readonly EnvironmentRef[]): string {
  return environments.map(({ id }) => id).join(", ") || "it has no environments";
}

function countsOf(outcomes: readonly JudgedOutcome[]): AgreementCounts {
  const count = (kind: JudgedOutcome["kind"]): number => outcomes.filter((outcome) => outcome.kind === kind).length;
  const firstLost = outcomes.find((outcome) => outcome.kind === "lost")?.error;
  const firstUnscored = outcomes
    .flatMap((outcome) => (outcome.kind === "judged" ? Object.values(outcome.episode.after) : []))
    .find((reward) => !reward.scored);
  return {
    episodes: outcomes.length,
    judged: count("judged"),
    failed: count("failed"),
    unjudged: count("unjudged"),
    lost: count("lost"),
    ...defined({ firstLost, firstUnscored }),
  };
}

function eventOf(outcome: JudgedOutcome, { key, step, trajectory }: NumberedEpisode, judge: string): JsonObject {
  const { id, environment, task } = trajectory;
  const common = { event: "episode", outcome: outcome.kind, id, episode_key: key, step, environment, task };
  if (outcome.kind === "lost")
    return { ...common, error: { code: outcome.error.code, message: outcome.error.message } };
  if (outcome.kind !== "judged") return common;
  const { before, after, verdictBefore, verdictAfter, again } = outcome.episode;
  return {
    ...common,
    verdict_before: verdictBefore ?? null,
    verdict_after: verdictAfter ?? null,
    agents: Object.fromEntries(
      Object.keys(before).map((agent) => [agent, { before: valueOf(before[agent]), after: valueOf(after[agent]) }]),
    ),
    // The host records the judge that the environment requires.
    judgements: again.judgements.map((judgement) => ({ ...(judgement as unknown as JsonObject), judge })),
  };
}

function valueOf(reward: Reward | undefined): number | null {
  return reward?.scored === true ? reward.value : null;
}

function toJson(
  { agents, verdicts, orders }: Agreement,
  { firstLost: _, firstUnscored: __, ...counts }: AgreementCounts,
): JsonObject {
  return {
    ...counts,
    agents: agents.map(({ agent, scored, unscoredBefore, unscoredAfter, meanBefore, meanAfter, tau }) => ({
      agent,
      scored,
      unscored_before: unscoredBefore,
      unscored_after: unscoredAfter,
      mean_before: meanBefore ?? null,
      mean_after: meanAfter ?? null,
      kendall_tau_b: tau ?? null,
    })),
    verdicts_equal: verdicts.equal,
    verdicts: verdicts.of,
    orders_equal: orders.equal,
    orders: orders.of,
  };
}
