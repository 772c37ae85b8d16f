import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { connectEngine } from "@mrlm/client";
import {
  configuredPlugins,
  type EnginePlace,
  idOfRun,
  loadConfig,
  PluginHost,
  playRun,
  prepareRun,
  type PreparedRun,
  processName,
  RunDirectory,
} from "@mrlm/runtime";
import { type EnvironmentHost, type Logger, MrlmError } from "@mrlm/spec";
import { openEpisodeStore } from "@mrlm/store";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import { EXIT } from "../exit-codes.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { openEnvironments, unlessLost } from "../services/environments.ts";

/** Options of `mrlm play`. */
export interface PlayArguments {
  readonly run: string;
}

/** Time between two looks for the training process, in milliseconds. */
const LOOK_MS = 500;
/** A training process that starts makes its directory some seconds before it locks it. */
const TOLD_MS = 10_000;

/** Plays episodes of a run that another process trains, until the run has ended. Returns the exit code. */
export async function play({ console, directory }: CommandContext, { run: path }: PlayArguments): Promise<number> {
  const run = RunDirectory.open(path);
  const loaded = loadConfig(run.configPath);
  const { config } = loaded;
  const notice = (text: string): void => console.note(`note: ${text}`);
  const logger = lineLogger(notice);
  const name = processName();
  const plugins = await PluginHost.discover({ directory, logger, ...configuredPlugins(loaded) });
  const interrupts = listenForInterrupts(console, "stopping: other workers play the episodes that are under way here");
  const cleanUp: (() => Promise<void>)[] = [() => plugins.close()];
  try {
    const environments = await openEnvironments({
      config,
      configPath: run.configPath,
      overrides: [],
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
    let played = 0;
    for (let last = 0; ;) {
      const place = await trainingProcess(run, last, stop, notice);
      if (place === undefined) break;
      last = place.since;
      console.note(`${name} plays for ${run.path}`);
      console.emit({ event: "playing", name, run: run.path });
      played += await playBeside({ run, prepared, host, place, name, logger, stop, notice });
    }
    if (lost.aborted) throw lost.reason;
    console.print(`${played} cohorts played`);
    console.emit({ event: "played", cohorts: played });
    return interrupts.drain.aborted ? EXIT.interrupted : EXIT.ok;
  } finally {
    interrupts.dispose();
    for (const close of cleanUp) await close().catch((error: Error) => notice(error.message));
  }
}

type FoundEngine = EnginePlace & { readonly since: number };

/** Waits for a training process that began after `last`. Returns `undefined` after the end of the run, or a stop. */
async function trainingProcess(
  run: RunDirectory,
  last: number,
  stop: AbortSignal,
  notice: (text: string) => void,
): Promise<FoundEngine | undefined> {
  let isTold = false;
  const began = performance.now();
  while (!stop.aborted) {
    const place = run.readEngine();
    // The training process makes the store after it has locked the run.
    if (place !== undefined && place.since > last && run.isLocked && existsSync(run.episodesPath)) return place;
    if (!run.isLocked && run.readRecord()["status"] === "finished") return undefined;
    if (!isTold && !run.isLocked && performance.now() - began > TOLD_MS) {
      notice(`no process trains ${run.path}: waiting for mrlm train --resume ${run.path}`);
      isTold = true;
    }
    await setTimeout(LOOK_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  return undefined;
}

/** Plays beside one training process until it ends. Returns the number of cohorts. */
async function playBeside(parts: {
  readonly run: RunDirectory;
  readonly prepared: PreparedRun;
  readonly host: EnvironmentHost;
  readonly place: FoundEngine;
  readonly name: string;
  readonly logger: Logger;
  readonly stop: AbortSignal;
  readonly notice: (text: string) => void;
}): Promise<number> {
  const { run, place, stop, notice } = parts;
  let played = 0;
  const ended = new AbortController();
  const look = globalThis.setInterval(() => {
    if (run.readEngine()?.since !== place.since || !run.isLocked) ended.abort();
  }, LOOK_MS);
  try {
    const { address, token } = place;
    const engine = await connectEngine(address, token === undefined ? {} : { token });
    try {
      const id = idOfRun(run);
      const store = await openEpisodeStore({
        path: run.episodesPath,
        ...(id === undefined ? {} : { run: id }),
        purpose: "train",
        endsLeases: false,
      });
      try {
        await playRun({
          ...parts,
          store,
          engine,
          signal: AbortSignal.any([stop, ended.signal]),
          onPlayed: ({ result }) => {
            if (result === "accepted") played++;
          },
        });
      } finally {
        await store.close();
      }
    } finally {
      await engine.close();
    }
  } catch (error) {
    if (!MrlmError.isInstance(error) || !error.code.startsWith("ENGINE_")) throw error;
    notice(`the engine of the training process was lost: ${error.message}`);
  } finally {
    clearInterval(look);
  }
  return played;
}
