import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { LoggedBatches, STORE_FILE } from "@mrlm/store";
import { type LoadedConfig, loadConfig } from "../config/load-config.ts";
import { loadState } from "../resume/checkpoint-state.ts";
import { type Checkpoint, openCheckpoint } from "../run/checkpoints.ts";
import { RunDirectory } from "../run/run-directory.ts";
import { idOfRun } from "../train/run-recorder.ts";

/** Name of the beginning of a run in place of a checkpoint. */
export const FROM_START = "start";

/** Run whose records can be read. */
export interface RecordedRun {
  readonly run: RunDirectory;
  readonly loaded: LoadedConfig;
  /** The caller closes it. */
  readonly log: LoggedBatches;
}

export interface OpenedReplay extends RecordedRun {
  /** `undefined`: from the beginning. */
  readonly checkpoint: Checkpoint | undefined;
  /** Completed steps of the run at the checkpoint. */
  readonly first: number;
  /** Completed steps of the run at its end. */
  readonly last: number;
}

/**
 * Opens the records of a run that no process trains, and changes nothing. Throws RUN_NOT_FOUND, RUN_IN_USE, EPISODE_NOT_FOUND for a run without a store,
 * STORE_INVALID or STORE_FAILED.
 */
export function openRecords(path: string): RecordedRun {
  const run = RunDirectory.open(path);
  if (run.isLocked)
    throw new MrlmError("RUN_IN_USE", `Another process is training the run ${run.path}: its records still change.`, {
      hint: "Wait until it ends, or stop it by Ctrl-C, and repeat the command.",
    });
  const loaded = loadConfig(run.configPath);
  if (!run.hasEpisodes) {
    // Throws for a store of an earlier build.
    run.readEpisodes()?.close();
    throw new MrlmError("EPISODE_NOT_FOUND", `${run.path} has no ${STORE_FILE}.`, {
      hint: "Restore it from a copy: it holds the batches, the log-probabilities and the checksums of the run.",
    });
  }
  return { run, loaded, log: new LoggedBatches(run.store, idOfRun(run) ?? "") };
}

/**
 * Opens a run and one of its checkpoints for a replay. Rejects as `openRecords` does; with CHECKPOINT_INCOMPLETE or CHECKPOINT_MISMATCH; with DATA_INVALID
 * where the run has no complete step after the checkpoint.
 * @param from path or name of a checkpoint, or `start`
 */
export async function openReplay(path: string, from: string): Promise<OpenedReplay> {
  const records = openRecords(path);
  try {
    const { run, loaded } = records;
    const checkpoint = from === FROM_START ? undefined : await openCheckpoint(checkpointPath(run, from));
    const first = checkpoint === undefined ? 0 : loadState(checkpoint.path, checkpoint.state, loaded.config).state.step;
    const steps = run.metrics.rows().flatMap(({ kind, step }) => (kind === "iteration" ? [step] : []));
    const last = Math.max(0, ...steps);
    if (last <= first)
      throw new MrlmError(
        "DATA_INVALID",
        `Nothing can be replayed: ${from} is at step ${first}, and the last complete step of the run ${run.path} is ${last}.`,
        { hint: checkpointHint(run) },
      );
    return { ...records, checkpoint, first, last };
  } catch (error) {
    records.log.close();
    throw error;
  }
}

/** Returns the path of a checkpoint. Throws CHECKPOINT_INCOMPLETE where there is none. */
function checkpointPath(run: RunDirectory, from: string): string {
  const candidates = [resolve(from), run.checkpoints.path(from)];
  const found = candidates.find((candidate) => existsSync(join(candidate, "state.json")));
  if (found === undefined)
    throw new MrlmError("CHECKPOINT_INCOMPLETE", `${from} is no checkpoint of the run ${run.path}.`, {
      hint: checkpointHint(run),
    });
  const parent = dirname(dirname(found));
  if (existsSync(join(parent, "config.yaml")) && parent !== run.path)
    throw new MrlmError("CHECKPOINT_MISMATCH", `Checkpoint ${found} is of the run ${basename(parent)}.`, {
      hint: checkpointHint(run),
    });
  return found;
}

function checkpointHint(run: RunDirectory): string {
  const names = run.checkpoints.names().toReversed();
  return names.length === 0
    ? `The run has no checkpoint: only --from ${FROM_START} is possible.`
    : `Its checkpoints are ${names.join(", ")}; --from ${FROM_START} begins before them.`;
}
