import { defined, MrlmError, type TrackerDefinition, type TrainingEnvironment } from "@mrlm/spec";
import type {
  CreateModelOptions,
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentPackage,
  EnvironmentRef,
  RolloutRequest,
} from "@mrlm/spec/host";
import { configError } from "../config/config-problems.ts";
import { trainedPolicies } from "../config/policies.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { at, located } from "../config/located.ts";
import type { ResolvedConfig, ResolvedEnvironment } from "../config/resolve-config.ts";
import type { AlgorithmSource } from "../plugins/plugin-kinds.ts";
import { describeIssues, validateOptions } from "../plugins/standard-options.ts";
import type { MeasuredEnvironment } from "../evaluation/evaluate.ts";
import { emptyHint, splitSize } from "../evaluation/split-size.ts";
import type { PlayedEnvironment } from "../play/cohort-requests.ts";
import { environmentsOf, frozenModels } from "../players/frozen-models.ts";
import type { PlayerSource, ScriptSource } from "../players/player-source.ts";
import { resolvePlayers } from "../players/resolve-players.ts";
import { rewardSharingOf } from "../players/reward-sharing.ts";
import { dropUnknownOptions } from "./drop-unknown-options.ts";
import { type EnvironmentList, environmentPath, environmentPlace } from "../config/environment-place.ts";
import { policyPath, withModelDirectories } from "./model-directories.ts";
import { policyOptions } from "./model-source.ts";
import { type PreparedStage, prepareStage } from "./prepare-stage.ts";

/** Players of an environment in requests for episodes. */
type Playing = Pick<RolloutRequest, "players" | "sides" | "rewardSharing">;

/** Tracker that is ready to start. */
export interface PreparedTracker {
  readonly definition: TrackerDefinition;
  /** Options as the tracker's schema returned them. */
  readonly options: unknown;
}

/** Run whose configuration has passed all checks that are possible before it starts. */
export interface PreparedRun {
  readonly config: ResolvedConfig;
  readonly sourceText: string;
  readonly stages: readonly PreparedStage[];
  readonly environments: readonly PlayedEnvironment[];
  readonly evaluation: readonly MeasuredEnvironment[];
  readonly trackers: readonly PreparedTracker[];
  /** Models that were fetched or converted for the run, by the names in its configuration. */
  readonly models: NonNullable<LoadedConfig["models"]>;
  /** Models that score beside the policies, in the main engine. */
  readonly rewardModels?: readonly CreateModelOptions[];
  /** Packages of the environments by their ids, where the host knows them. */
  readonly packages: Readonly<Record<string, EnvironmentPackage>>;
  /** Environments of training and evaluation, in their order: each under its own options. */
  readonly descriptions: readonly EnvironmentDescription[];
  /** Notices for the user before the run: keys without effect, dropped options. */
  readonly notices: readonly string[];
}

/**
 * Checks a configuration against the plugins, the environments and the disk, before expensive work begins. Errors name the place in the configuration.
 */
export async function prepareRun(
  loaded: LoadedConfig,
  parts: {
    readonly host: EnvironmentHost;
    readonly algorithms: AlgorithmSource;
    /** Default: the host. */
    readonly scripts?: ScriptSource;
  },
): Promise<PreparedRun> {
  const notices = [...loaded.notices, ...aboutDistribution(loaded)];
  // An environment that is also evaluated has the same notice twice.
  const onNotice = (text: string): void => void (notices.includes(text) || notices.push(text));
  const config = await withModelDirectories(loaded, await dropUnknownOptions(loaded, parts, onNotice), onNotice);
  const players: PlayerSource = {
    trained: trainedPolicies(config).map(({ policy }) => policy),
    frozen: frozenModels(environmentsOf(config)),
    scripts: parts.scripts ?? parts.host,
    policies: parts.algorithms,
    onNotice,
    source: loaded.source,
    refuse: (problems) => configError(loaded.source, problems),
  };
  const packages: Record<string, EnvironmentPackage> = {};
  const descriptions: EnvironmentDescription[] = [];
  const each = async <E extends ResolvedEnvironment, T>(
    list: EnvironmentList,
    entries: readonly E[],
    work: (environment: E, description: EnvironmentDescription) => T,
  ): Promise<(T & Playing)[]> => {
    const made: (T & Playing)[] = [];
    for (const [i, environment] of entries.entries()) {
      const { id, options } = environment;
      const [description, one] = await (async () => {
        const described = await parts.host.describe({ id, options });
        return [described, work(environment, described)] as const;
      })().catch((error: unknown) => {
        throw located(error, environmentPlace(loaded, list, i, options, error));
      });
      if (description.providedBy !== undefined) packages[description.id] = description.providedBy;
      descriptions.push(description);
      const path = environmentPath(loaded, list, i);
      const sharing = rewardSharingOf(environment, description, path, players.refuse);
      made.push({ ...one, ...(await resolvePlayers(environment, description, path, players)), ...sharing });
    }
    return made;
  };
  const environments = await each("environments", config.environments, (environment, description) =>
    trainingEnvironment(parts.host, environment, description),
  );
  const evaluation =
    config.eval.tasks === 0
      ? []
      : await each("eval.environments", config.eval.environments, (environment, description) =>
          evaluationEnvironment(environment, description, config),
        );
  const stages: PreparedStage[] = [];
  for (const i of config.stages.keys())
    stages.push(await prepareStage({ loaded, config, algorithms: parts.algorithms, environments }, i));
  const trackers: PreparedTracker[] = [];
  for (const i of config.trackers.keys())
    trackers.push(await at(loaded, ["trackers", i], () => prepareTracker(config, i, parts.algorithms)));
  for (const { policy } of trainedPolicies(config))
    await at(loaded, policyPath(loaded, policy), async () => policyOptions(config, policy));
  return {
    config,
    sourceText: loaded.text,
    stages,
    environments,
    evaluation,
    trackers,
    models: loaded.models ?? {},
    packages,
    descriptions,
    notices,
  };
}

async function prepareTracker(
  config: ResolvedConfig,
  index: number,
  plugins: AlgorithmSource,
): Promise<PreparedTracker> {
  const { name, options } = config.trackers[index] as ResolvedConfig["trackers"][number];
  const definition = await plugins.tracker(name);
  const outcome = await validateOptions(definition.options, options);
  if (!outcome.ok)
    throw new MrlmError(
      "CONFIG_INVALID",
      `Options of tracker ${definition.name}: ${describeIssues(outcome.issues, definition.options)}.`,
    );
  await definition.check?.(outcome.value);
  return { definition, options: outcome.value };
}

function trainingEnvironment(
  host: EnvironmentHost,
  environment: ResolvedConfig["environments"][number],
  described: EnvironmentDescription,
): TrainingEnvironment {
  const ref: EnvironmentRef = { id: described.id, options: environment.options };
  if (!described.splits["train"])
    throw new MrlmError("CONFIG_INVALID", `Environment ${described.id} has no tasks to train on under these options.`, {
      hint: emptyHint(environment.options),
    });
  return {
    ref,
    weight: environment.weight,
    splits: described.splits,
    orderedSplits: described.orderedSplits,
    hasDemonstrations: described.hasDemonstrations,
    determinism: described.determinism,
    ...defined({ snapshots: described.snapshots, dataFiles: described.dataFiles, rewardRange: described.rewardRange }),
    demonstrate: (tasks) => host.demonstrate(ref, tasks),
  };
}

function evaluationEnvironment(
  environment: ResolvedEnvironment,
  description: EnvironmentDescription,
  config: ResolvedConfig,
): Omit<MeasuredEnvironment, keyof Playing> {
  const { split, tasks } = config.eval;
  const size = splitSize(description, split, environment.options, {
    code: "CONFIG_INVALID",
    advice: "See `eval.split`; `eval.tasks: 0` evaluates nothing.",
  });
  const ref: EnvironmentRef = { id: description.id, options: environment.options };
  return {
    ref,
    tasks: Array.from({ length: Math.min(tasks, size) }, (_, i) => `${split}/${i}`),
    ...defined({ maxTurns: environment.max_turns, rewardRange: description.rewardRange }),
  };
}

/** Rejects distributed settings that cannot start. A running engine has its own number of processes, so they have no effect on it. */
function aboutDistribution({ config, source }: LoadedConfig): string[] {
  const { enabled, nproc_per_node, nnodes, master_addr } = config.distributed;
  if (!enabled || nproc_per_node * nnodes === 1) return [];
  const place = source.locate(["distributed"], "key");
  if (config.engine.address !== undefined)
    return [`${place}: distributed has no effect: the engine at ${config.engine.address} is already running.`];
  if (nnodes > 1 && master_addr === undefined)
    throw new MrlmError(
      "CONFIG_INVALID",
      `${place}: ${nnodes} machines need master_addr, the address at which the others reach this one.`,
      {
        hint: "Set distributed.master_addr and, where 29500 is taken, distributed.master_port.",
      },
    );
  return [];
}
