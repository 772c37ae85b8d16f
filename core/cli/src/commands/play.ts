import { setTimeout } from "node:timers/promises";
import { configuredPlugins, PluginHost, playRun, prepareRun, type PreparedRun, processName } from "@mrlm/runtime";
import type { RunStatus } from "../services/run-status.ts";
import { type Logger, MrlmError } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import type { CommandContext } from "../command-context.ts";
import { lineLogger, withLevel } from "../console/line-logger.ts";
import { PlayedCount } from "../console/played-count.ts";
import type { PlayOptions } from "../declarations/play.ts";
import { EXIT } from "../exit-codes.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { openEnvironments, unlessLost } from "../services/environments.ts";
import { connectEngines } from "../services/engines.ts";
import { closePools, followSamplers, samplerPools } from "../services/samplers.ts";
import { openPlayedRun, type PlayedRun } from "../services/played-run.ts";
import { waitingNotice } from "../services/waiting-notice.ts";

/** Time between two looks for the training process, in milliseconds. */
const LOOK_MS = 500;

/** Plays episodes of a run that another process trains, until the run has ended. Returns the exit code. */
export async function play({ console, directory }: CommandContext, args: PlayOptions): Promise<number> {
  const notice = (text: string): void => console.note(withLevel(text));
  const logger = lineLogger(notice);
  const interrupts = listenForInterrupts(console, "stopping: other workers play the episodes that are under way here");
  const cleanUp: (() => Promise<void>)[] = [];
  try {
    const run = await openPlayedRun(args, interrupts.drain, notice);
    cleanUp.unshift(() => run.close());
    const { loaded, configPath } = run;
    const name = processName();
    const plugins = await PluginHost.discover({ directory, logger, ...configuredPlugins(loaded) });
    cleanUp.unshift(() => plugins.close());
    const environments = await openEnvironments({
      config: loaded.config,
      configPath,
      overrides: args.set ?? [],
      directory,
      plugins,
      notice,
      json: console.json,
    });
    cleanUp.unshift(() => environments.stop());
    const { host, lost } = environments;
    const prepared = await unlessLost(
      lost,
      prepareRun(loaded, { host, scripts: environments.scripts, algorithms: plugins }),
    );
    const stop = AbortSignal.any([interrupts.drain, lost]);
    const played = new PlayedCount(console);
    for (let last = 0; ;) {
      const place = await trainingProcess(run, last, stop, notice);
      if (place === undefined) break;
      played.begin();
      last = place.since;
      console.note(`${name} plays for ${run.name}`);
      console.emit({ event: "playing", name, run: run.name });
      const { isStoreLost } = await playBeside({ run, prepared, host, place, name, logger, stop, notice, played });
      // The training process may be the same when the server answers again.
      if (isStoreLost) last = 0;
    }
    if (lost.aborted) throw lost.reason;
    if (!stop.aborted) notice(`${run.name} has finished`);
    console.print(played.text());
    console.emit({ event: "played", ...played.toJson() });
    return interrupts.drain.aborted ? EXIT.interrupted : EXIT.ok;
  } finally {
    interrupts.dispose();
    for (const close of cleanUp) await close().catch((error: Error) => notice(error.message));
  }
}

type FoundEngine = NonNullable<RunStatus["training"]>;

/** Waits for a training process that began after `last`. Returns `undefined` after the end of the run, or a stop. */
async function trainingProcess(
  run: PlayedRun,
  last: number,
  stop: AbortSignal,
  notice: (text: string) => void,
): Promise<FoundEngine | undefined> {
  const waiting = waitingNotice(run.name, notice);
  while (!stop.aborted) {
    const state = await run.find();
    if (state?.training !== undefined && state.training.since > last) return state.training;
    if (state?.hasEnded === true) return undefined;
    waiting(state?.isLocked !== false);
    await setTimeout(LOOK_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  return undefined;
}

/** Plays beside one training process until it ends, or the store is lost. */
async function playBeside(parts: {
  readonly run: PlayedRun;
  readonly prepared: PreparedRun;
  readonly host: EnvironmentHost;
  readonly place: FoundEngine;
  readonly name: string;
  readonly logger: Logger;
  readonly stop: AbortSignal;
  readonly notice: (text: string) => void;
  readonly played: PlayedCount;
}): Promise<{ readonly isStoreLost: boolean }> {
  const { run, place, stop, notice, played } = parts;
  let isStoreLost = false;
  const ended = new AbortController();
  const looking = lookForEnd(run, place, ended);
  const signal = AbortSignal.any([stop, ended.signal]);
  const { config } = parts.prepared;
  const pools = samplerPools(config, {
    logger: parts.logger,
    updates: false,
    findsJoined: run.directory !== undefined,
    waitEnd: signal,
  });
  const following =
    run.directory === undefined
      ? undefined
      : followSamplers(run.directory, pools, { signal: ended.signal, logger: parts.logger });
  try {
    const engine = await connectEngines(config, place, pools);
    try {
      const store = await run.openStore();
      try {
        await playRun({
          ...parts,
          store,
          engine,
          signal,
          onPlayed: ({ cohort, result }) => played.add(cohort.groups, result),
        });
      } finally {
        await store.close();
      }
    } finally {
      await engine.close();
    }
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    if (error.code.startsWith("ENGINE_")) notice(`the engine of the training process was lost: ${error.message}`);
    else if (error.code === "STORE_UNAVAILABLE") {
      isStoreLost = true;
      notice(error.message);
    } else if (error.code !== "CANCELLED" || !stop.aborted) throw error;
  } finally {
    ended.abort();
    await Promise.all([looking, following]);
    await closePools(pools);
  }
  return { isStoreLost };
}

/** Aborts `ended` when the training process has ended. It may continue while the store server does not answer. */
async function lookForEnd(run: PlayedRun, { since }: FoundEngine, ended: AbortController): Promise<void> {
  try {
    while (!ended.signal.aborted) {
      await setTimeout(LOOK_MS, undefined, { signal: ended.signal });
      const state = await run.find();
      if (state !== undefined && state.training?.since !== since) ended.abort();
    }
  } catch (error) {
    if (!ended.signal.aborted) ended.abort(error);
  }
}
