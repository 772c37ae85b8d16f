import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { asWriteFailure, collectEpisodes, Journal, writeCollection } from "@mrlm/runtime";
import { defined, isErrorCode, type JsonObject, MrlmError, type Trajectory, type TrajectoryGroup } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { collectionReport, cutShare } from "../console/collection-report.ts";
import { playProgress } from "../console/play-progress.ts";
import { progressBar } from "../console/progress-bar.ts";
import type { CollectOptions } from "../declarations/collect.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { unlessLost } from "../services/environments.ts";
import { EpisodeRecord } from "../services/episode-record.ts";
import { outputFile } from "../services/output-file.ts";
import { openRolloutSession, type RolloutSession } from "../services/rollout-session.ts";
import { rolloutSessionConfig } from "../services/rollout-session-config.ts";
import { modelFetcher } from "../services/stored-models.ts";
import { collectTraces } from "./collect-traces.ts";
import { VERSION } from "../version.ts";
import { plainJson } from "../services/plain-json.ts";

/** Validated arguments. */
interface Job {
  readonly tasks: number;
  readonly groupSize: number;
  readonly filterReward: number | undefined;
  readonly output: string;
  readonly partial: string;
}

/** Plays episodes with a model and writes them to a file, as training data. */
export async function runCollect(context: CommandContext, given: CollectOptions): Promise<void> {
  const { console } = context;
  const { from, model: named, environment } = given;
  if (from !== undefined) return collectTraces(context, from, given);
  if (named === undefined || environment === undefined)
    throw new MrlmError("USAGE", `collect needs ${named === undefined ? "--model" : "--environment"}.`, {
      hint: "--from reads the traces of production instead.",
    });
  const args = { ...given, model: named, environment };
  const job = check(args);
  const interrupts = listenForInterrupts(console, `stopping; the same command continues from ${args.output}.partial`);
  let session: RolloutSession | undefined;
  let record: EpisodeRecord | undefined;
  try {
    const resolved = await rolloutSessionConfig(args, modelFetcher(context));
    const { modelDirectory: model, run } = resolved;
    const recorded = await EpisodeRecord.open(console, { model, run, store: args.store });
    record = recorded;
    session = await openRolloutSession(context, args, resolved, interrupts.drain);
    const identity = identityOf(session, args, job);
    if (args.overwrite === true) rmSync(job.partial, { force: true });
    const written = <T>(work: Promise<T>): Promise<T> =>
      work.catch((error: unknown) =>
        Promise.reject(
          asWriteFailure(
            error,
            `The episodes could not be written to ${job.output}`,
            `Correct the cause; the same command continues from ${args.output}.partial.`,
          ),
        ),
      );
    const journal = await written(Journal.open(job.partial, identity));
    let failure: Trajectory["error"];
    await unlessLost(
      session.lost,
      written(
        play(context, session, args.split, job, journal, {
          signal: AbortSignal.any([interrupts.drain, session.lost]),
          onEpisodes(groups) {
            for (const { error } of groups.flatMap(({ trajectories }) => trajectories)) failure ??= error;
            recorded.add("collect", groups);
          },
        }),
      ),
    );
    const rows = await written(
      writeCollection(job.output, journal, { mrlm: JSON.stringify({ version: VERSION, ...identity }) }),
    );
    const counts = journal.counts();
    journal.remove();
    console.print(`${collectionReport(counts, job.filterReward)}\n\n${rows} rows written to ${args.output}`);
    if (failure !== undefined) console.note(`note: the first failed episode: ${failure.code}: ${failure.message}`);
    console.emit({ event: "collection", file: job.output, rows, ...counts, cut: cutShare(counts) });
    if (rows === 0)
      console.note(
        `note: no episode ${job.filterReward === undefined ? "was played" : `has a reward of ${job.filterReward} or more`}: ${args.output} has no rows`,
      );
    if (failure !== undefined && counts["failed"] === counts["episodes"])
      throw new MrlmError(
        isErrorCode(failure.code) ? failure.code : "INTERNAL",
        `Every episode failed: ${args.output} has nothing to learn from.`,
        { hint: "Correct the cause, and collect again with --overwrite." },
      );
  } finally {
    interrupts.dispose();
    await session?.close();
    await record?.close();
  }
}

function check(args: CollectOptions): Job {
  const { numEpisodes: episodes, groupSize, filterReward } = args;
  if (episodes % groupSize !== 0)
    throw new MrlmError("USAGE", `--num-episodes ${episodes} is not a multiple of --group-size ${groupSize}.`, {
      hint: `Take ${Math.ceil(episodes / groupSize) * groupSize}.`,
    });
  if (![".jsonl", ".parquet"].includes(extname(args.output)))
    throw new MrlmError("USAGE", `--output ${args.output} ends neither in .jsonl nor in .parquet.`, {
      hint: "The extension selects the format.",
    });
  const output = outputFile(args.output, { overwrite: args.overwrite === true, besides: [".partial", ".writing"] });
  return { tasks: episodes / groupSize, groupSize, filterReward, output, partial: `${output}.partial` };
}

async function play(
  { console }: CommandContext,
  session: RolloutSession,
  split: string,
  { tasks, groupSize, filterReward }: Job,
  journal: Journal,
  callbacks: { readonly signal: AbortSignal; readonly onEpisodes: (groups: readonly TrajectoryGroup[]) => void },
): Promise<void> {
  const { config, engine, environment, fingerprint, rollouts, sampling } = session;
  const bar = progressBar(console, "collect");
  await collectEpisodes(
    {
      rollouts,
      environment: environment.ref,
      split,
      size: environment.size,
      tasks,
      groupSize,
      players: environment.players,
      ...defined({ sides: environment.sides, rewardSharing: environment.rewardSharing }),
      ...sampling,
      seed: config.seed,
      renderer: fingerprint,
      ...defined({ filterReward }),
      batchTasks: engine.deterministic ? Math.max(1, Math.floor(config.sampling.concurrency / groupSize)) : undefined,
      ...callbacks,
      onProgress: playProgress(bar, session.tally),
    },
    journal,
  ).finally(() => bar.end());
}

/** Returns every value that determines the collected episodes. */
function identityOf(
  { config, modelDirectory, endpoint, environment, engine, sampling: { sampling, policySampling } }: RolloutSession,
  { split }: CollectOptions,
  { tasks, groupSize, filterReward }: Job,
): JsonObject {
  return {
    model: modelDirectory,
    weights: weightsOf(modelDirectory),
    ...(endpoint === undefined ? {} : { endpoint: endpoint.endpoint, model_options: endpoint.options ?? {} }),
    environment: environment.ref.id,
    options: environment.ref.options ?? {},
    ...playersOf(environment),
    ...defined({ reward_sharing: environment.rewardSharing }),
    split,
    tasks,
    group_size: groupSize,
    filter_reward: filterReward ?? null,
    seed: config.seed,
    sampling: { ...sampling, concurrency: config.sampling.concurrency },
    ...(Object.keys(policySampling).length === 0 ? {} : { policy_sampling: plainJson(policySampling) }),
    deterministic: engine.deterministic,
  };
}

/** Returns the players, as the configuration names them; nothing if the model plays every role. */
function playersOf({ known }: RolloutSession["environment"]): JsonObject {
  const { players, sides } = known ?? {};
  return players === undefined ? {} : plainJson({ players, sides });
}

/** Returns size and time of the files of the weights, which distinguish a model from one that was trained further. Empty if the directory is not on this machine. */
function weightsOf(directory: string): JsonObject {
  if (!existsSync(directory)) return {};
  const files = readdirSync(directory)
    .filter((name) => name.endsWith(".safetensors"))
    .sort();
  return Object.fromEntries(
    files.map((name) => [name, [statSync(join(directory, name)).size, statSync(join(directory, name)).mtimeMs]]),
  );
}
