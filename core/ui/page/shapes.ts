/** Answers of the API, which are what the server reads. */
import type { RunSummary as Summary, RunDetail as Detail } from "../src/reader/run-summary.ts";

export type { Finding } from "@mrlm/runtime";
export type { Message, Part, Reward, TurnRecord } from "@mrlm/spec";
export type { EpisodeList, ListedValue, TaskRewards } from "@mrlm/store";
export type { CallNode } from "../src/reader/episode-calls.ts";
export type { TokenShape } from "../src/reader/episode-tokens.ts";
export type { RunConfig } from "../src/reader/run-config.ts";
export type { EpisodeDetail } from "../src/reader/run-episodes.ts";
export type { WaitSeries, WorkersDetail } from "../src/reader/run-workers.ts";
export type { ServerState } from "../src/servers/environment-servers.ts";
export type { MetricSeries, RunMetrics } from "../src/reader/run-metrics.ts";

/** Element of `/api/runs`. */
export type RunSummary = Summary & { readonly id: string };
/** Answer of `/api/runs/ID`. */
export type RunDetail = Detail & { readonly id: string };
