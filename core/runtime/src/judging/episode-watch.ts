import { hash64, silentLogger } from "@mrlm/kit/service";
import { meanOf } from "@mrlm/kit/learning";
import {
  type IterationReport,
  type Logger,
  type Mean,
  type Metrics,
  MrlmError,
  type PolicyId,
  type Trajectory,
  type TrajectoryGroup,
} from "@mrlm/spec";
import { environmentPath } from "../config/environment-place.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { at } from "../config/located.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { LocalHost } from "../host/local-host.ts";
import { environmentLabel } from "../play/labels.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import type { EnvironmentSource } from "../plugins/plugin-kinds.ts";
import { AT_ONCE, repeatEpisode, type Repetition } from "./judge-run.ts";
import { type Grader, ReplacedGraders } from "./replaced-graders.ts";

/** Time of the watch of a batch, from its take, after which learning no longer waits for it. Learning that takes longer gives it as long. */
const DEADLINE_MS = 30_000;

/** Beginning of a notice about the first episode of a batch that was not scored again. */
const MISSED_NOTICE = "Episodes were not watched:";

type WatchKeys = NonNullable<ResolvedConfig["environments"][number]["watch"]>;

/** Environment whose episodes are scored again. */
interface Watched extends Omit<Repetition, "signal"> {
  readonly share: number;
  /** Text that the ids of its groups hold. */
  readonly label: string;
}

/** Rewards of an agent's part of an episode. */
interface Pair {
  readonly policy: PolicyId;
  readonly paid: number;
  readonly watched: number;
}

/** Watch of one batch. */
interface BatchWatch {
  readonly began: number;
  readonly chosen: number;
  readonly pairs: Pair[];
  /** Number of episodes that were scored again, or in which nothing is to be judged. */
  reached: number;
  firstMissed: string | undefined;
  readonly stop: AbortController;
  ended: Promise<unknown>;
}

/** Report with the metrics of the watch. */
interface WatchedReport {
  readonly report: IterationReport;
  /** Notices for the record of the iteration, and for the user. */
  readonly recorded: readonly string[];
  readonly notices: readonly string[];
  readonly seconds: number;
}

/**
 * Scores a share of the episodes of each batch again while the batch is learnt from, by another scorer or judge in a copy of their environment. Which episodes follows from
 * their ids, so that a resumed run chooses the same. It changes no reward, and no random number of the run.
 */
export class EpisodeWatch {
  readonly #environments: readonly Watched[];
  readonly #deadlineMs: number;
  #batch: BatchWatch | undefined;
  #hasWarned = false;

  constructor(environments: readonly Watched[], deadlineMs = DEADLINE_MS) {
    this.#environments = environments;
    this.#deadlineMs = deadlineMs;
  }

  /** Begins to score episodes of a batch again. What is left of the one before is given up. */
  begin(played: readonly TrajectoryGroup[]): void {
    this.#batch?.stop.abort();
    const chosen = played.flatMap(({ trajectories }) =>
      trajectories.flatMap((trajectory) => {
        const environment = this.#environmentOf(trajectory);
        const isChosen =
          environment !== undefined && trajectory.error === undefined && shareOf(trajectory) < environment.share;
        return isChosen ? [{ environment, trajectory }] : [];
      }),
    );
    const batch: BatchWatch = {
      ...{ began: performance.now(), chosen: chosen.length, pairs: [], reached: 0 },
      ...{ firstMissed: undefined, stop: new AbortController(), ended: Promise.resolve() },
    };
    const queue = chosen.values();
    const work = async (): Promise<void> => {
      for (const { environment, trajectory } of queue) {
        if (batch.stop.signal.aborted) return;
        await scoreAgain(batch, environment, trajectory);
      }
    };
    batch.ended = Promise.all(Array.from({ length: AT_ONCE }, work));
    this.#batch = batch;
  }

  /**
   * Waits for the watch of the last batch, up to its deadline. Returns the report with `watch/reward`, `watch/gap` (the reward minus that) and `watch/agreement` (share of
   * equal ones) over the parts that a policy played, with the number of episodes that were not scored again, and the time of the wait.
   * @param learners of the stage: names of metrics begin with the policy where there are several
   */
  async addTo(report: IterationReport, learners: readonly PolicyId[]): Promise<WatchedReport> {
    const batch = this.#batch;
    this.#batch = undefined;
    if (batch === undefined || batch.chosen === 0) return { report, recorded: [], notices: [], seconds: 0 };
    const began = performance.now();
    await within(batch.ended, batch.began + this.#deadlineMs - began);
    batch.stop.abort();
    const seconds = (performance.now() - began) / 1000;
    const missed = batch.chosen - batch.reached;
    const recorded =
      missed === 0
        ? []
        : [`${MISSED_NOTICE} ${missed} of ${batch.chosen}. ${batch.firstMissed ?? "They were not reached in time."}`];
    // Each row has the notice of its own batch, and the user reads the first.
    const notices = this.#hasWarned ? [] : recorded;
    this.#hasWarned ||= missed > 0;
    const metrics = learners.map((policy) =>
      metricsOf(
        batch.pairs.filter((pair) => pair.policy === policy),
        learners.length > 1 ? `${policy}/` : "",
      ),
    );
    return {
      report: {
        ...report,
        metrics: Object.assign({}, report.metrics, ...metrics, missed > 0 ? { "watch/missed": missed } : {}),
        seconds: { ...report.seconds, watch: seconds },
      },
      recorded,
      notices,
      seconds,
    };
  }

  async close(): Promise<void> {
    this.#batch?.stop.abort();
    await Promise.allSettled(this.#environments.map(({ host }) => host.close()));
  }

  #environmentOf({ group, environment }: Trajectory): Watched | undefined {
    return this.#environments.find(({ label }) => group.includes(`/${label}/${environment}/`));
  }
}

async function scoreAgain(batch: BatchWatch, environment: Watched, trajectory: Trajectory): Promise<void> {
  const { signal } = batch.stop;
  const outcome = await repeatEpisode({ ...environment, signal }, trajectory);
  // An episode that ends after the deadline is counted as missed.
  if (signal.aborted) return;
  const { before = {}, after = {} } = outcome.kind === "judged" ? outcome.episode : {};
  const fault = outcome.kind === "lost" ? outcome.error : Object.values(after).find(({ scored }) => !scored);
  if (fault === undefined) batch.reached++;
  else if ("code" in fault) batch.firstMissed ??= `${trajectory.id}: ${fault.code}: ${fault.message}`;
  for (const [agent, { player }] of Object.entries(trajectory.agents)) {
    const policy = player.kind === "policy" ? player.policy : undefined;
    const [paid, watched] = [before[agent], after[agent]];
    if (policy !== undefined && paid?.scored === true && watched?.scored === true)
      batch.pairs.push({ policy, paid: paid.value, watched: watched.value });
  }
}

/** Difference of rewards that is rounding. */
const EPSILON = 1e-9;

function metricsOf(pairs: readonly Pair[], prefix: string): Metrics {
  if (pairs.length === 0) return {};
  const mean = (of: (pair: Pair) => number): Mean => meanOf(pairs.map(of));
  return {
    [`${prefix}watch/reward`]: mean(({ watched }) => watched),
    [`${prefix}watch/gap`]: mean(({ paid, watched }) => paid - watched),
    [`${prefix}watch/agreement`]: mean(({ paid, watched }) =>
      Number(Math.abs(paid - watched) <= EPSILON * Math.max(1, Math.abs(paid))),
    ),
  };
}

/** Returns a number in [0, 1) that follows from the id of an episode. */
function shareOf({ id }: Trajectory): number {
  return Number(hash64(`watch/${id}`) >> 11n) / 2 ** 53;
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, ms));
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/**
 * Opens the watch of a run; `undefined` where no environment has one. It owns the source, whose services are apart from those that score rewards. Rejects, with the
 * place in the configuration, where the scorer or judge, or the environment, is not installed here, where the environment requires none of the kind, and where its episodes
 * cannot be repeated.
 */
export async function openWatch(
  loaded: LoadedConfig,
  { environments: played }: Pick<PreparedRun, "environments">,
  source: EnvironmentSource,
  { logger = silentLogger, deadlineMs }: { readonly logger?: Logger; readonly deadlineMs?: number } = {},
): Promise<EpisodeWatch | undefined> {
  const { environments, base_directory: dataDirectory } = loaded.config;
  const opened: Watched[] = [];
  const ids = played.map(({ ref: { id } }) => id);
  for (const [i, { watch }] of environments.entries()) {
    const ref = played[i]?.ref;
    if (watch === undefined || ref === undefined) continue;
    await at(loaded, [...environmentPath(loaded, "environments", i), "watch"], async () => {
      const replaced = new ReplacedGraders(source, await graderOf(source, watch), watch.options);
      const host = new LocalHost({ source: replaced, logger, dataDirectory });
      const { determinism, ...described } = await host.describe(ref);
      const kind = watch.judge === undefined ? "scorer" : "judge";
      if (replaced.replaced.size === 0)
        throw new MrlmError(
          "CONFIG_INVALID",
          `Environment ${described.id} has no ${kind} that a watch could replace.`,
          {
            hint: "A watch replaces what the environment requires: name the kind that it has. For a reward of its own code leave `watch` out.",
          },
        );
      if (kind === "scorer" && determinism === "none")
        throw new MrlmError(
          "CONFIG_INVALID",
          `Environment ${described.id} promises no determinism: its episodes cannot be repeated.`,
          {
            hint: "Leave `watch` out.",
          },
        );
      opened.push({
        host,
        environments: [ref],
        needsJudge: kind === "judge",
        share: watch.share,
        label: environmentLabel(ids, i),
      });
    });
  }
  return opened.length === 0 ? undefined : new EpisodeWatch(opened, deadlineMs);
}

async function graderOf(source: EnvironmentSource, { scorer, judge }: WatchKeys): Promise<Grader> {
  const asker = "the watch";
  return judge === undefined
    ? { scorer: await source.service("scorer", scorer as string, asker) }
    : { judge: await source.service("judge", judge, asker) };
}
