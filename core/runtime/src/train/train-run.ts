import { type Engine, type EnvironmentHost, type JsonObject, type Logger, MrlmError } from "@mrlm/spec";
import { type LoadedConfig, loadConfig } from "../config/load-config.ts";
import { silentLogger } from "../logging/silent-logger.ts";
import { type Checkpoint, openCheckpoint } from "../run/checkpoints.ts";
import { RunDirectory } from "../run/run-directory.ts";
import { describeVersions } from "../run/versions.ts";
import type { PreparedRun } from "./prepare-run.ts";
import type { RunEvent, RunSummary } from "./run-events.ts";
import { trackRun } from "./track-run.ts";
import { TrainingRun } from "./training-run.ts";

/** What a run needs from whoever starts it: environments and an engine, wherever they are. */
export interface TrainOptions {
  readonly prepared: PreparedRun;
  readonly host: EnvironmentHost;
  readonly engine: Engine;
  /** Where it is written; a new directory by default. */
  readonly run?: RunDirectory;
  /** Where to go on; without one the run starts at its beginning. */
  readonly checkpoint?: Checkpoint;
  /** Versions of the plugins by name, for the record. */
  readonly plugins?: Readonly<Record<string, string>>;
  readonly logger?: Logger;
  readonly onEvent?: (event: RunEvent) => void;
  /** Aborted to stop after the iteration under way, with a checkpoint. */
  readonly drain?: AbortSignal;
  /** Aborted to stop at once. */
  readonly stop?: AbortSignal;
}

/** Trains. An error that ends the run says how to resume it. */
export async function trainRun(options: TrainOptions): Promise<RunSummary> {
  const { prepared, host, engine, checkpoint, logger = silentLogger } = options;
  const told = options.onEvent ?? (() => undefined);
  const { config } = prepared;
  const run = options.run ?? RunDirectory.create(config, prepared.sourceText);
  const info = await engine.describe();
  const started = new Date().toISOString();
  const versions = await describeVersions({ engine: info, plugins: options.plugins ?? {}, directory: config.base_directory });
  const record = (more: JsonObject): void =>
    run.writeRecord({ name: config.name, seed: config.seed, started, resumed_from: checkpoint?.path ?? null, versions, ...more });
  record({ status: "running" });
  const store = config.output.trajectories ? run.openTrajectories() : undefined;
  const never = new AbortController().signal;
  const resumedAt = checkpoint === undefined ? undefined : Number(checkpoint.state["step"]);
  const tracking = await trackRun(prepared, run, resumedAt, (text) => told({ kind: "notice", text }));
  const onEvent = (event: RunEvent): void => {
    tracking.follow(event);
    told(event);
  };
  let status: RunSummary["status"] | "failed" = "failed";
  try {
    for (const text of prepared.notices) onEvent({ kind: "notice", text });
    const training = await TrainingRun.start({
      prepared,
      run,
      host,
      engine,
      isDeterministic: info.deterministic,
      checkpoint,
      store,
      logger,
      onEvent,
      drain: options.drain ?? never,
      stop: options.stop ?? never,
    });
    const summary = await training.finish();
    status = summary.status;
    record({ status: summary.status, ended: new Date().toISOString(), steps: summary.steps, seconds: { ...summary.seconds } });
    return summary;
  } catch (error) {
    record({ status: "failed", ended: new Date().toISOString(), error: error instanceof Error ? error.message : String(error) });
    throw withResumeLine(error, run);
  } finally {
    await tracking.close(status);
    store?.close();
  }
}

/** What `--resume` needs: the run, the configuration that it holds, and the newest complete checkpoint or the one that was named. */
export async function openRun(
  path: string,
  onNotice: (text: string) => void,
): Promise<{ readonly run: RunDirectory; readonly loaded: LoadedConfig; readonly checkpoint: Checkpoint | undefined }> {
  const run = RunDirectory.open(path);
  const loaded = loadConfig(run.configPath);
  const isRun = run.names(path);
  const checkpoint = isRun ? await run.checkpoints.newest((text) => onNotice(`${text} An earlier one is used.`)) : await openCheckpoint(path);
  if (checkpoint === undefined) onNotice(`${run.path} has no checkpoint yet: the run starts at its beginning.`);
  return { run, loaded, checkpoint };
}

function withResumeLine(error: unknown, run: RunDirectory): unknown {
  if (!MrlmError.isInstance(error)) return error;
  const hint = `${error.hint} Continue with: npx mrlm train --resume ${run.path}`;
  return new MrlmError(error.code, error.message, { hint, isRetryable: error.isRetryable, cause: error });
}
