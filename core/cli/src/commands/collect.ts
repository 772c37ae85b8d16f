import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { asWriteFailure, collectEpisodes, Journal, rolloutSampling, writeCollection } from "@mrlm/runtime";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import { realNumber, wholeNumber } from "../arguments.ts";
import type { CommandContext } from "../command-context.ts";
import { collectionReport, cutShare } from "../console/collection-report.ts";
import { progressBar } from "../console/progress-bar.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { unlessLost } from "../services/environments.ts";
import { outputFile } from "../services/output-file.ts";
import { openRolloutSession, type RolloutSession } from "../services/rollout-session.ts";
import type { RolloutArguments } from "../services/rollout-session-config.ts";
import { VERSION } from "../version.ts";

/** What the command line says. */
export interface CollectArguments extends RolloutArguments {
  readonly numEpisodes: string;
  readonly groupSize: string;
  readonly output: string;
  readonly filterReward?: string;
  readonly overwrite?: boolean;
}

/** What the arguments ask for, checked. */
interface Wanted {
  readonly tasks: number;
  readonly groupSize: number;
  readonly filterReward: number | undefined;
  readonly output: string;
  readonly partial: string;
}

/** Plays episodes with a model and writes them down, to learn from. */
export async function runCollect(context: CommandContext, args: CollectArguments): Promise<void> {
  const { console } = context;
  const wanted = check(args);
  const interrupts = listenForInterrupts(console, `stopping; the same command continues from ${args.output}.partial`);
  let session: RolloutSession | undefined;
  try {
    session = await openRolloutSession(context, args, interrupts.drain);
    const identity = identityOf(session, args, wanted);
    if (args.overwrite === true) rmSync(wanted.partial, { force: true });
    const written = <T>(work: Promise<T>): Promise<T> =>
      work.catch((error: unknown) =>
        Promise.reject(
          asWriteFailure(
            error,
            `The episodes could not be written to ${wanted.output}`,
            `Mend that; the same command goes on from ${args.output}.partial.`,
          ),
        ),
      );
    const journal = await written(Journal.open(wanted.partial, identity));
    await unlessLost(
      session.lost,
      written(play(context, session, args.split, wanted, journal, AbortSignal.any([interrupts.drain, session.lost]))),
    );
    const rows = await written(
      writeCollection(wanted.output, journal, { mrlm: JSON.stringify({ version: VERSION, ...identity }) }),
    );
    const counts = journal.counts();
    journal.remove();
    console.print(`${collectionReport(counts, wanted.filterReward)}\n\n${rows} rows written to ${args.output}`);
    console.emit({ event: "collection", file: wanted.output, rows, ...counts, cut: cutShare(counts) });
    if (rows === 0)
      console.note(
        `note: no episode ${wanted.filterReward === undefined ? "was played" : `earned ${wanted.filterReward} or more`}: ${args.output} has no rows`,
      );
  } finally {
    interrupts.dispose();
    await session?.close();
  }
}

function check(args: CollectArguments): Wanted {
  const [episodes, groupSize] = [
    wholeNumber(args.numEpisodes, "--num-episodes", 1),
    wholeNumber(args.groupSize, "--group-size", 1),
  ];
  if (episodes % groupSize !== 0)
    throw new MrlmError("USAGE", `--num-episodes ${episodes} is not a multiple of --group-size ${groupSize}.`, {
      hint: `Take ${Math.ceil(episodes / groupSize) * groupSize}.`,
    });
  if (![".jsonl", ".parquet"].includes(extname(args.output)))
    throw new MrlmError("USAGE", `--output ${args.output} ends neither in .jsonl nor in .parquet.`, {
      hint: "The extension says which of the two is written.",
    });
  const output = outputFile(args.output, { overwrite: args.overwrite === true, besides: [".partial", ".writing"] });
  const filterReward =
    args.filterReward === undefined
      ? undefined
      : realNumber(args.filterReward, "--filter-reward", { mayBeNegative: true });
  return { tasks: episodes / groupSize, groupSize, filterReward, output, partial: `${output}.partial` };
}

async function play(
  { console }: CommandContext,
  session: RolloutSession,
  split: string,
  { tasks, groupSize, filterReward }: Wanted,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const { config, engine, environment, model, renderer, rollouts } = session;
  const bar = progressBar(console, "collect");
  await collectEpisodes(
    {
      rollouts,
      environment: environment.ref,
      split,
      size: environment.size,
      tasks,
      groupSize,
      model: model.model,
      sampling: rolloutSampling(config.sampling),
      seed: config.seed,
      renderer: renderer.fingerprint,
      ...(filterReward === undefined ? {} : { filterReward }),
      batchTasks: engine.deterministic ? Math.max(1, Math.floor(config.sampling.concurrency / groupSize)) : undefined,
      signal,
      onProgress: (done, total) => bar.update(done, total, "episodes"),
    },
    journal,
  ).finally(() => bar.clear());
}

/** Everything that decides what is collected. */
function identityOf(
  { config, modelDirectory, environment, engine }: RolloutSession,
  { split }: RolloutArguments,
  { tasks, groupSize, filterReward }: Wanted,
): JsonObject {
  return {
    model: modelDirectory,
    weights: weightsOf(modelDirectory),
    environment: environment.ref.id,
    options: environment.ref.options ?? {},
    split,
    tasks,
    group_size: groupSize,
    filter_reward: filterReward ?? null,
    seed: config.seed,
    sampling: { ...rolloutSampling(config.sampling), concurrency: config.sampling.concurrency },
    deterministic: engine.deterministic,
  };
}

/** Size and time of the weights' files, to tell a model that was trained further; nothing where the engine reads another machine's disk. */
function weightsOf(directory: string): JsonObject {
  if (!existsSync(directory)) return {};
  const files = readdirSync(directory)
    .filter((name) => name.endsWith(".safetensors"))
    .sort();
  return Object.fromEntries(
    files.map((name) => [name, [statSync(join(directory, name)).size, statSync(join(directory, name)).mtimeMs]]),
  );
}
