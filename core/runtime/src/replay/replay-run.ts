import { cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { temporaryFolder } from "@mrlm/process";
import { defined, type Logger, MrlmError } from "@mrlm/spec";
import type { Engine, EnvironmentHost } from "@mrlm/spec/host";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import { RunDirectory } from "../run/run-directory.ts";
import { asOutputFault } from "../run/write-failure.ts";
import { exportPolicies, publishPolicies, type RunDuties } from "../train/run-context.ts";
import type { RunEvent } from "../train/run-events.ts";
import { trainLocked } from "../train/train-run.ts";
import type { OpenedReplay } from "./open-replay.ts";
import { type ComparedWeights, ReplayLog } from "./replay-log.ts";

/** Parts and options of a replay. */
export interface ReplayOptions {
  readonly opened: OpenedReplay;
  readonly prepared: PreparedRun;
  /** Describes tasks and demonstrates; it plays nothing. */
  readonly host: EnvironmentHost;
  readonly engine: Engine;
  /** Whether the engine continues after the replay. If so, the replay releases its models at the end. */
  readonly isEngineShared?: boolean;
  /** New directory for the models and metrics of the replay; default: they are not kept. */
  readonly out?: string;
  readonly plugins?: Readonly<Record<string, string>>;
  readonly logger?: Logger;
  readonly onEvent?: (event: RunEvent) => void;
  /** Aborted to stop at once. */
  readonly stop?: AbortSignal;
}

/** Result of a replay in which no checksum differs. */
export interface ReplayResult extends ComparedWeights {
  /** Completed steps of the run at the beginning and at the end of the replay. */
  readonly first: number;
  readonly last: number;
  /** Number of replayed steps. */
  readonly steps: number;
  /** Step that the run began and did not complete. */
  readonly unfinished: number | undefined;
}

/** Files of a run that a replay reads, and a run writes. */
const COPIED = ["config.yaml", "config.source.yaml", "run.json", "metrics.jsonl", "tokenizer", "tokenizers"];

/**
 * Learns again from the logged batches of a run, by the code that trained it, and compares each publication with the recorded checksum. Nothing is played,
 * and no file of the run is changed. Rejects with REPLAY_DIFFERS, naming the first step that differs; with STORE_INVALID for a missing or damaged batch; with
 * DATA_INVALID for one whose tokens were deleted.
 */
export async function replayRun(options: ReplayOptions): Promise<ReplayResult> {
  const { opened, prepared, host, engine, isEngineShared, out, plugins, logger, onEvent } = options;
  const { first, last, log } = opened;
  const folder =
    out === undefined
      ? temporaryFolder("replay")
      : { path: emptyDirectory(out, opened.run), remove: (): void => undefined };
  const stop = new AbortController();
  const cancel = (): void => stop.abort(options.stop?.reason);
  options.stop?.addEventListener("abort", cancel);
  if (options.stop?.aborted === true) cancel();
  const drain = new AbortController();
  const replayed = new ReplayLog(log, (error) => stop.abort(error));
  try {
    for (const name of COPIED.filter((each) => existsSync(join(opened.run.path, each))))
      cpSync(join(opened.run.path, name), join(folder.path, name), { recursive: true });
    const summary = await trainLocked(
      {
        prepared: { ...prepared, trackers: [] },
        host,
        engine,
        ...defined({ isEngineShared, checkpoint: opened.checkpoint, plugins, logger }),
        duties: replayDuties(opened, out !== undefined),
        openStore: async () => replayed.store(),
        onEvent: (event) => {
          if (event.kind === "iteration" && event.step >= last) drain.abort();
          onEvent?.(event);
        },
        drain: drain.signal,
        stop: stop.signal,
      },
      RunDirectory.open(folder.path),
    );
    // A difference of the last publication stops nothing.
    if (stop.signal.aborted) throw stop.signal.reason;
    if (summary.steps !== last)
      throw new MrlmError(
        "REPLAY_DIFFERS",
        `The replay ended at step ${summary.steps}, and the run has ${last} complete steps.`,
      );
    const unfinished = log.lastStep() > last ? log.lastStep() : undefined;
    return { first, last, steps: last - first, unfinished, ...replayed.compared({ first, last }) };
  } finally {
    options.stop?.removeEventListener("abort", cancel);
    folder.remove();
  }
}

/** Publishes wherever the run did, and takes the outcome of goals from its metrics. */
function replayDuties({ run, last }: OpenedReplay, isKept: boolean): RunDuties {
  const goals = run.metrics.rows().filter(({ kind }) => kind === "goal");
  return {
    plays: false,
    async evaluate(context) {
      if (context.prepared.evaluation.length === 0) return;
      await publishPolicies(context);
      context.state.isEvaluationDue = false;
    },
    async hasReachedGoal(context, { name }, { accuracy: wanted }) {
      await publishPolicies(context);
      const row = goals.findLast(({ step, stage }) => step === context.state.step && stage === name);
      const accuracy = row?.["accuracy"];
      return typeof accuracy === "number" && accuracy >= wanted;
    },
    async checkpoint(context) {
      if (context.state.step < last) return;
      // The run has published these weights if it took another batch before it ended.
      await publishPolicies(context);
      if (isKept) await exportPolicies(context, context.run.path);
    },
    export: async () => undefined,
  };
}

/** Makes a directory outside of the run. Throws OUTPUT_INVALID. */
function emptyDirectory(path: string, run: RunDirectory): string {
  const directory = resolve(path);
  const refuse = (fact: string): never => {
    throw new MrlmError("OUTPUT_INVALID", `--out ${path} ${fact}.`, {
      hint: "Name a new directory outside of the run.",
    });
  };
  if (`${directory}${sep}`.startsWith(`${run.path}${sep}`)) refuse("is in the run, which a replay does not change");
  try {
    mkdirSync(directory, { recursive: true });
    if (readdirSync(directory).length > 0) refuse("is not empty");
  } catch (error) {
    throw asOutputFault(error, `The directory ${directory} cannot be made`, "Name a directory in which you may write.");
  }
  return directory;
}
