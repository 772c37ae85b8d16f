import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  beforeAndAfter,
  checkLearners,
  checkPlayers,
  checkMemory,
  checkPrompts,
  checkTemplates,
  checkRoutes,
  checkStore,
  type Checkpoint,
  estimateRun,
  episodesNotLearnt,
  learningCurve,
  type LoadedConfig,
  loadConfig,
  openRun,
  openWatch,
  PlayTally,
  configuredPlugins,
  PluginHost,
  prepareRun,
  recordFailure,
  type ResolvedConfig,
  RewardModels,
  RunDirectory,
  type RunSummary,
  trainRun,
  withStoredModels,
} from "@mrlm/runtime";
import { defined, MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import type { Console } from "../console/console.ts";
import { lineLogger } from "../console/line-logger.ts";
import { count } from "../console/numbers.ts";
import { memoryTable } from "../console/memory-table.ts";
import { resumeLine } from "../console/resume-line.ts";
import { RunLog, withLog } from "../console/run-log.ts";
import { describeRunPlan } from "../console/run-plan.ts";
import { printSummary } from "../console/run-summary.ts";
import { shownPath } from "../console/shown-path.ts";
import { timeTable } from "../console/time-table.ts";
import { trainingView } from "../console/training-view.ts";
import type { TrainOptions } from "../declarations/train.ts";
import { EXIT } from "../exit-codes.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { AnnouncedEngines } from "../services/announced-engines.ts";
import { assumedDevices } from "../services/assumed-devices.ts";
import { assertEngineInstalled, startsEngine } from "../services/engine.ts";
import { openEngines } from "../services/engines.ts";
import { openEnvironments, unlessLost } from "../services/environments.ts";
import { openSamplers } from "../services/samplers.ts";
import { fetchModel } from "../services/stored-models.ts";
import { plainJson } from "../services/plain-json.ts";

/** File of the run directory with everything that is printed, and details. */
const LOG = "train.log";

/**
 * Trains as a configuration specifies, or continues a run. Returns the exit code.
 * @param onRun receives the run's directory when other processes can play for it
 */
export async function train(
  context: CommandContext,
  args: TrainOptions,
  onRun: (path: string) => void = () => undefined,
): Promise<number> {
  const { directory } = context;
  const log = new RunLog();
  const console = withLog(context.console, log);
  const tally = new PlayTally();
  const onEvent = trainingView(console, log, tally);
  const notice = (text: string): void => onEvent({ kind: "notice", text });
  const { loaded: given, configPath, overrides, existing, checkpoint, finished } = await selectJob(args, notice);
  const { config } = given;
  if (args.assumeDevice !== undefined && args.dryRun !== true)
    throw new MrlmError("USAGE", "--assume-device is for --dry-run: a run uses the devices of its machine.");
  const assumed = args.assumeDevice === undefined ? undefined : assumedDevices(args.assumeDevice, config);
  if (finished !== undefined) {
    notice(
      `The run is finished: nothing is left to do after its ${finished.steps} steps. Make it longer with: npx mrlm train --resume ${shownPath(finished.directory)} --steps N`,
    );
    return end({ console, log, summary: finished, config });
  }
  if (existing === undefined && args.dryRun !== true) RunDirectory.assertCreatable(config.output.directory);
  let directoryOfRun = existing?.path;
  let isTraining = false;
  /** Plugins of the watch. */
  let watching: PluginHost | undefined;
  const logger = lineLogger(notice);
  const plugins = await PluginHost.discover({
    directory,
    logger,
    ...configuredPlugins(given),
  });
  const interrupts = listenForInterrupts(
    console,
    () => (isTraining ? "finishing this iteration and writing a checkpoint" : "stopping: training has not begun yet"),
    () => (directoryOfRun === undefined ? undefined : resumeLine(directoryOfRun)),
  );
  const cleanUp: (() => Promise<void>)[] = [() => plugins.close()];
  const started =
    (role: string) =>
    ({ pid, address }: { readonly pid: number; readonly address: string }): void =>
      console.emit({ event: "process", role, pid, address });
  try {
    checkStore(given);
    await assertEngineInstalled(config, plugins);
    const fetch = async (name: string) =>
      fetchModel(console, (await plugins.engine(config.engine.provider)).models, name, assumed === undefined);
    const loaded = await withStoredModels(given, fetch);
    await checkPlayers(loaded, plugins);
    await checkLearners(loaded, plugins);
    if (config.server.spawn && config.server.address === undefined) console.note("starting the environment server");
    const environments = await openEnvironments({
      config,
      configPath,
      overrides,
      directory,
      plugins,
      notice,
      json: console.json,
      onStarted: started("server"),
    });
    cleanUp.unshift(() => environments.stop());
    const checked = await unlessLost(
      environments.lost,
      prepareRun(loaded, { host: environments.host, scripts: environments.scripts, algorithms: plugins }),
    );
    checkRoutes(checked, loaded);
    console.note(`plan: ${describeRunPlan(checked)}`);
    const watch = await openRunWatch();
    const paths = new Set([plugins, watching].flatMap((host) => host?.rewardModelPaths ?? []));
    const prepared = { ...checked, rewardModels: await Promise.all([...paths].map(RewardModels.options)) };
    if (args.dryRun === true) return await dryRun();
    await unlessLost(environments.lost, checkTemplates(prepared, environments.host, interrupts.drain));
    const run = existing ?? RunDirectory.create(prepared.config, prepared.sourceText);
    directoryOfRun = run.path;
    log.open(join(run.path, LOG));
    if (startsEngine(config)) console.note("starting the engine (loading torch)");
    const samplers = openSamplers({
      ...{ config: prepared.config, plugins, run, logger },
      // The engine then samples the rest of the iteration.
      waitEnd: AbortSignal.any([interrupts.drain, environments.lost]),
      onStarted: started("sampler"),
    });
    cleanUp.unshift(() => samplers.stop());
    const opening = openEngines({
      config: prepared.config,
      plugins,
      samplers: samplers.pools,
      run,
      signal: interrupts.drain,
      notice,
      onStarted: (process, name) => started(name === undefined ? "engine" : `engine ${name}`)(process),
    });
    const { engine, isShared, places, parts, stop } = await opening.catch((error: unknown) => {
      // A run that was interrupted before it began has not failed.
      if (!MrlmError.hasCode(error, "CANCELLED")) recordFailure(run, error);
      throw error;
    });
    cleanUp.unshift(stop);
    // Reward models stand beside the models of the main engine, which the run stops.
    const main = { engine: parts[0]?.engine ?? engine, close: () => Promise.resolve() };
    for (const host of [plugins, watching]) host?.useRewardModels(new RewardModels(() => Promise.resolve(main)));
    // The first batch is sampled by all of them.
    await samplers.started;
    const announced = await AnnouncedEngines.open(run);
    cleanUp.unshift(() => announced.close());
    onRun(run.path);
    for (const part of parts) {
      const { device, deviceName, deterministic, worldSize } = await part.engine.describe();
      console.note(
        `engine${parts.length > 1 ? ` ${part.name}` : ""} on ${device} (${deviceName})${worldSize > 1 ? ` in ${worldSize} processes (${config.distributed.strategy})` : ""}, ${deterministic ? "deterministic" : "throughput"} mode`,
      );
    }
    isTraining = true;
    const summary = await trainRun({
      onStoreOpened: () => announced.announce(places),
      prepared,
      host: environments.host,
      engine,
      isEngineShared: isShared,
      engines: parts,
      samplers: samplers.count,
      members: samplers.members,
      watch,
      run,
      onEvent,
      tally,
      logger,
      drain: interrupts.drain,
      stop: environments.lost,
      plugins: Object.fromEntries(plugins.registry.entries.map(({ name, version }) => [name, version])),
      ...defined({ checkpoint }),
    });
    return end({ console, log, summary, config });

    /** Opens the watch with services of its own: those that score rewards have budgets and places, and may have a state. */
    async function openRunWatch(): ReturnType<typeof openWatch> {
      if (config.environments.every(({ watch: keys }) => keys === undefined)) return undefined;
      const source = await PluginHost.discover({ directory, logger, ...configuredPlugins(loaded) });
      watching = source;
      cleanUp.unshift(() => source.close());
      const opened = await openWatch(loaded, checked, source, { logger });
      if (opened !== undefined) cleanUp.unshift(() => opened.close());
      return opened;
    }

    /** Runs everything before the first step, without a run directory. */
    async function dryRun(): Promise<number> {
      const prompts = await unlessLost(environments.lost, checkPrompts(prepared, environments.host));
      for (const text of prompts.notices) notice(text);
      if (prompts.rendered > 0) console.note(`rendered ${count(prompts.rendered, "first prompt")} of tasks`);
      if (startsEngine(config)) console.note("starting the engine (loading torch)");
      const { engine, stop } = await openEngines({
        config: prepared.config,
        plugins,
        signal: interrupts.drain,
        notice,
        onStarted: (process, name) => started(name === undefined ? "engine" : `engine ${name}`)(process),
        onlyEstimates: assumed !== undefined,
      });
      cleanUp.unshift(stop);
      const memory = await estimateRun(engine, prepared, assumed);
      console.note(memoryTable(memory));
      const lowered = checkMemory(memory, prepared.config);
      if (lowered !== undefined) notice(lowered.notice);
      console.note("nothing was trained (--dry-run)");
      return EXIT.ok;
    }
  } catch (error) {
    log.write(
      `error ${MrlmError.isInstance(error) ? `${error.code}: ` : ""}${error instanceof Error ? error.message : String(error)}`,
    );
    throw error;
  } finally {
    interrupts.dispose();
    onEvent.end();
    for (const close of cleanUp) await close().catch((error: Error) => console.note(`note: ${error.message}`));
  }
}

/** Prints the result of a run. Returns the exit code. */
function end({
  console,
  log,
  summary,
  config,
}: {
  readonly console: Console;
  readonly log: RunLog;
  readonly summary: RunSummary;
  readonly config: ResolvedConfig;
}): number {
  const run = RunDirectory.open(summary.directory);
  const file = join(summary.directory, LOG);
  if (Object.keys(summary.seconds).length > 0) log.write(timeTable(summary));
  printSummary(console, {
    summary,
    curve: learningCurve(run.metrics.rows()),
    notLearnt: episodesNotLearnt(run.metrics.rows()),
    examples: beforeAndAfter(run),
    policies: Object.keys(config.policies),
    needsConfig: Object.keys(config.plugins).length > 0,
    log: existsSync(file) ? file : undefined,
  });
  console.emit({ event: "summary", ...plainJson(summary) });
  return summary.status === "finished" ? EXIT.ok : EXIT.interrupted;
}

interface Job {
  readonly loaded: LoadedConfig;
  readonly configPath: string;
  /** `--set KEY=VALUE` flags, which replace keys of the file. */
  readonly overrides: readonly string[];
  readonly existing?: RunDirectory;
  readonly checkpoint?: Checkpoint | undefined;
  /** Result of a run that is already finished. */
  readonly finished?: RunSummary | undefined;
}

async function selectJob(
  { config, set = [], output, seed, resume, steps }: TrainOptions,
  notice: (text: string) => void,
): Promise<Job> {
  if (resume !== undefined) {
    if (config !== undefined || set.length > 0 || output !== undefined || seed !== undefined)
      throw new MrlmError(
        "USAGE",
        "--resume takes the configuration from the run directory: --config, --set, --output and --seed cannot be given with it.",
      );
    const { run, loaded, checkpoint, finished } = await openRun(resume, notice, steps);
    return { loaded, configPath: run.configPath, overrides: [], existing: run, checkpoint, finished };
  }
  if (steps !== undefined)
    throw new MrlmError("USAGE", "--steps is for --resume: a new run takes its steps from the configuration.");
  if (config === undefined) throw new MrlmError("USAGE", "train needs --config FILE, or --resume RUN to continue one.");
  const overrides = [...set, ...(seed === undefined ? [] : [`seed=${seed}`])];
  const loaded = loadConfig(config, { overrides });
  if (loaded.config.models !== undefined)
    throw new MrlmError("CONFIG_INVALID", `${config} has \`models\` to measure, and no stages to train them.`, {
      hint: `Measure them: npx mrlm eval --config ${config}`,
    });
  const changed =
    output === undefined
      ? loaded.config
      : { ...loaded.config, output: { ...loaded.config.output, directory: resolve(output) } };
  return { loaded: { ...loaded, config: changed }, configPath: resolve(config), overrides };
}
