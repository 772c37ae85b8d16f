import { silentLogger } from "@mrlm/kit/service";
import { type JsonObject, type Logger, MrlmError } from "@mrlm/spec";
import type { Engine, EnvironmentHost, EpisodeStore } from "@mrlm/spec/host";
import { checkEpisodeStore, openEpisodeStore, type StoreSettings } from "@mrlm/store";
import { type LoadedConfig, loadConfig } from "../config/load-config.ts";
import type { EpisodeWatch } from "../judging/episode-watch.ts";
import { isFaultOfModel } from "../evaluation/failure-advice.ts";
import type { PlayTally } from "../rollouts/play-tally.ts";
import { withBackgroundWrites } from "../play/background-writes.ts";
import { TRAINING_WORKER } from "../play/stage-play.ts";
import { type Checkpoint, openCheckpoint } from "../run/checkpoints.ts";
import { RunDirectory } from "../run/run-directory.ts";
import { assertFree } from "../run/run-lock.ts";
import { describeVersions } from "../run/versions.ts";
import { asWriteFailure } from "../run/write-failure.ts";
import { releaseModels } from "../models/loaded-policies.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import { engineMember, environmentServers, type MemberEngine, thisProcess } from "../workers/member-sources.ts";
import { joinRun, type Membership, type MemberSource } from "../workers/membership.ts";
import { packageTexts } from "../workers/same-packages.ts";
import { workerReports } from "../workers/worker-reports.ts";
import type { RunDuties } from "./run-context.ts";
import type { RunEvent, RunSummary } from "./run-events.ts";
import { learningSettings } from "../resume/resume-compatibility.ts";
import { loadState } from "../resume/checkpoint-state.ts";
import { finishedSummary, idOfRun, RunRecorder } from "./run-recorder.ts";
import { runStages } from "./run-stages.ts";
import { startRun } from "./start-run.ts";
import { trackRun } from "./track-run.ts";
import { TRAINING_DUTIES } from "./training-duties.ts";

/** Parts and options of a run. Environments and engine may be in other processes. */
export interface TrainOptions {
  readonly prepared: PreparedRun;
  readonly host: EnvironmentHost;
  readonly engine: Engine;
  /** Whether the engine continues after the run. If so, the run releases its models at the end. */
  readonly isEngineShared?: boolean;
  /** Engines for the list of members; default `engine`, without an address. */
  readonly engines?: readonly MemberEngine[];
  /** Returns the number of samplers that serve now beside that of the engine; default 0. Each may play a cohort at the same time. */
  samplers?(): number;
  /** Members of the run that this process knows beside the engine, such as samplers. */
  readonly members?: MemberSource;
  /** Default: no episode is scored again. The caller closes it. */
  readonly watch?: EpisodeWatch | undefined;
  /** Directory of the run; default: a new one. */
  readonly run?: RunDirectory;
  /** Checkpoint to resume from; default: start at the beginning. */
  readonly checkpoint?: Checkpoint;
  /** Versions of the plugins by name, for run.json. */
  readonly plugins?: Readonly<Record<string, string>>;
  /** Default: those of training. */
  readonly duties?: RunDuties;
  readonly logger?: Logger;
  readonly onEvent?: (event: RunEvent) => void;
  /** Counts what this process plays. */
  readonly tally?: PlayTally;
  /** Opens the episode store; default: in a thread of its own. */
  readonly openStore?: (settings: StoreSettings) => Promise<EpisodeStore>;
  /** Called when the store is open and the leases of an earlier process have ended: from here on other processes may play. */
  readonly onStoreOpened?: () => void | Promise<void>;
  /** Aborted to stop after the current iteration, with a checkpoint. */
  readonly drain?: AbortSignal;
  /** Aborted to stop at once. */
  readonly stop?: AbortSignal;
}

/** Trains a run to its end. The hint of an error that ends it states how to resume it. */
export async function trainRun(options: TrainOptions): Promise<RunSummary> {
  const run = options.run ?? RunDirectory.create(options.prepared.config, options.prepared.sourceText);
  const lock = run.lock();
  try {
    return await trainLocked(options, run);
  } catch (thrown) {
    throw withResumeLine(endingError(thrown, options, run), run);
  } finally {
    lock.release();
  }
}

/** Trains a run whose directory no other process uses. */
export async function trainLocked(options: TrainOptions, run: RunDirectory): Promise<RunSummary> {
  const { prepared, host, engine, checkpoint, logger = silentLogger } = options;
  const notify = options.onEvent ?? (() => undefined);
  const { config } = prepared;
  const info = await engine.describe();
  const versions = await describeVersions({
    engine: info,
    plugins: options.plugins ?? {},
    directory: config.base_directory,
  });
  const environments = JSON.parse(JSON.stringify(prepared.packages)) as JsonObject;
  const models = JSON.parse(JSON.stringify(prepared.models)) as JsonObject;
  const about = {
    name: config.name,
    seed: config.seed,
    environments,
    settings: learningSettings(config),
    ...(Object.keys(models).length > 0 && { models }),
  };
  const record = new RunRecorder(run, about, versions, { from: checkpoint?.path, storeUrl: config.store.url });
  const never = new AbortController().signal;
  const resumedAt = record.hasBegunBefore ? Number(checkpoint?.state["step"] ?? 0) : undefined;
  const tracking = await trackRun(prepared, run, resumedAt, (text) => notify({ kind: "notice", text }));
  const onEvent = (event: RunEvent): void => {
    tracking.follow(event);
    if (event.kind === "memory") record.add({ memory: JSON.parse(JSON.stringify(event.memory)) as JsonObject });
    notify(event);
  };
  let episodes: EpisodeStore | undefined;
  let membership: Membership | undefined;
  let status: RunSummary["status"] | "failed" = "failed";
  try {
    const changed = checkpoint === undefined ? record.settingDifferences() : [];
    if (changed.length > 0) run.writeSource(prepared.sourceText);
    const notices = changed.map((change) => `config.yaml was changed since the run was started, and holds: ${change}.`);
    for (const text of [...prepared.notices, ...notices, ...record.differences(), ...record.environmentDifferences()])
      onEvent({ kind: "notice", text });
    const context = await startRun({
      prepared,
      run,
      host,
      engine,
      samplers: () => options.samplers?.() ?? 0,
      watch: options.watch,
      duties: options.duties ?? TRAINING_DUTIES,
      isDeterministic: info.deterministic,
      tally: options.tally,
      checkpoint,
      async openEpisodes(resumedAt) {
        const { openStore = openEpisodeStore } = options;
        const about = { ...run.store, run: record.id, purpose: "train", endsLeases: true } as const;
        const store = await openStore({ ...about, resumedAt });
        episodes = withBackgroundWrites(store);
        await options.onStoreOpened?.();
        const members = [
          // A server may offer an environment in another package during the run.
          () =>
            thisProcess(TRAINING_WORKER, "training", {
              mode: config.play.mode,
              packages: packageTexts(record.environments),
            })(),
          ...(options.engines ?? [{ engine }]).map(engineMember),
          environmentServers(
            host,
            prepared.environments.map(({ ref }) => ref.id),
          ),
          ...(options.members === undefined ? [] : [options.members]),
        ];
        membership = await joinRun(store, members, {
          logger,
          replaces: true,
          report: workerReports(store, TRAINING_WORKER, logger),
        });
        return episodes;
      },
      logger,
      onEvent,
      onDescription: (description) => {
        for (const text of record.environmentSeen(description)) onEvent({ kind: "notice", text });
      },
      drain: options.drain ?? never,
      stop: options.stop ?? never,
    });
    tracking.repeat(run.metrics.rows().filter(({ step }) => step === resumedAt));
    const summary = await runStages(context, checkpoint === undefined ? undefined : context.state.step);
    record.ended(summary);
    status = summary.status;
    return summary;
  } catch (error) {
    const reason = endingError(error, options, run);
    record.failed(reason);
    throw reason;
  } finally {
    // The run is still locked: without the lock the models may belong to another process that trains this run.
    if (options.isEngineShared === true)
      await releaseModels(engine).catch((error: Error) =>
        notify({ kind: "notice", text: `The models in the engine were not released: ${error.message}` }),
      );
    await tracking.close(status);
    await membership?.leave();
    // An error of the store has ended the run already.
    await episodes?.close().catch(() => undefined);
  }
}

/** Returns the error with which a run ends: for a stopped run, the reason of the stop. */
function endingError(thrown: unknown, { stop }: TrainOptions, run: RunDirectory): unknown {
  const error: unknown = stop?.aborted === true && MrlmError.isInstance(stop.reason) ? stop.reason : thrown;
  return asWriteFailure(error, `A file of the run ${run.path} could not be written`);
}

/** Run that is opened to be resumed. */
export interface OpenedRun {
  readonly run: RunDirectory;
  readonly loaded: LoadedConfig;
  readonly checkpoint: Checkpoint | undefined;
  /** Result of the run, if nothing is left to do. */
  readonly finished: RunSummary | undefined;
}

/**
 * Opens a run for `--resume`: its configuration, and the named checkpoint or the newest complete one. Rejects, before any process is started, with RUN_NOT_FOUND, RUN_IN_USE,
 * CHECKPOINT_INCOMPLETE, CHECKPOINT_MISMATCH, STORE_INVALID or STORE_FAILED.
 * @param steps of the last stage; replaces those of the configuration
 */
export async function openRun(path: string, onNotice: (text: string) => void, steps?: number): Promise<OpenedRun> {
  const run = RunDirectory.open(path);
  if (run.readRecord()["kind"] === "evaluation")
    throw new MrlmError("USAGE", `${run.path} is an evaluation: it trains nothing.`, {
      hint: `Continue it: npx mrlm eval --resume ${run.path}`,
    });
  // An early check, before any process is started. The run takes the lock when it begins.
  assertFree(run.path);
  const loaded = withSteps(loadConfig(run.configPath), steps);
  const isRun = run.names(path);
  const checkpoint = isRun ? await run.checkpoints.newest(onNotice) : await openCheckpoint(path);
  const state =
    checkpoint === undefined ? undefined : loadState(checkpoint.path, checkpoint.state, loaded.config).state;
  const finished = isRun && checkpoint !== undefined ? finishedSummary(run, checkpoint, loaded.config) : undefined;
  if (finished === undefined) {
    run.assertWritable();
    checkEpisodeStore(run.store, idOfRun(run) ?? "", state?.learners);
  }
  if (checkpoint === undefined) onNotice(`${run.path} has no checkpoint yet: the run starts at its beginning.`);
  return { run, loaded, checkpoint, finished };
}

function withSteps(loaded: LoadedConfig, steps: number | undefined): LoadedConfig {
  const last = loaded.config.stages.at(-1);
  if (steps === undefined || last === undefined) return loaded;
  const learners = Object.fromEntries(
    Object.entries(last.learners).map(([policy, each]) => [policy, { ...each, options: { ...each.options, steps } }]),
  );
  const stages = [...loaded.config.stages.slice(0, -1), { ...last, learners }];
  return { ...loaded, config: { ...loaded.config, stages } };
}

function withResumeLine(error: unknown, run: RunDirectory): unknown {
  // A resumed run has the same configuration, tokenizer and positions, and so the same fault.
  if (
    !MrlmError.isInstance(error) ||
    error.code === "CONFIG_INVALID" ||
    error.code === "OPTIONS_INVALID" ||
    isFaultOfModel(error.code)
  )
    return error;
  // A resumed run has the same data too. But after a completed stage resuming saves work.
  if (error.code === "DATA_INVALID" && run.checkpoints.names().length === 0) return error;
  const hint = `${error.hint} Continue with: npx mrlm train --resume ${run.path}`;
  return new MrlmError(error.code, error.message, { hint, isRetryable: error.isRetryable, cause: error });
}
