import { episodeTexts, episodeTokens } from "./episode-tokens.ts";
import { runConfig } from "./run-config.ts";
import { episodeChoices, episodeDetail, listedEpisodes, taskRewards } from "./run-episodes.ts";
import { runMetrics } from "./run-metrics.ts";
import { runDetail, runSummary } from "./run-summary.ts";
import { runWorkers } from "./run-workers.ts";

/** Everything that the server reads of a run. The first argument is the run's directory. Nothing writes. */
export const READS = {
  summaries: (paths: readonly string[]) => paths.map((path) => runSummary(path)),
  detail: runDetail,
  config: runConfig,
  metrics: runMetrics,
  episodes: listedEpisodes,
  choices: episodeChoices,
  episode: episodeDetail,
  tokens: episodeTokens,
  texts: episodeTexts,
  workers: runWorkers,
  tasks: taskRewards,
} as const;

export type Reads = typeof READS;
