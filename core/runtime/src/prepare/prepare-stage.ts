import {
  type AlgorithmDefinition,
  type JsonValue,
  MrlmError,
  type PolicyId,
  type RolloutSampling,
  type TrainingEnvironment,
} from "@mrlm/spec";
import type { PlayPlan, RolloutRequest } from "@mrlm/spec/host";
import { readRows } from "../collection/rows.ts";
import { configError, optionProblems } from "../config/config-problems.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { samplingOf } from "../config/policies.ts";
import type { ResolvedConfig, ResolvedLearner, ResolvedStage } from "../config/resolve-config.ts";
import { at } from "../config/located.ts";
import type { AlgorithmSource } from "../plugins/plugin-kinds.ts";
import { keysOf, validateOptions } from "../plugins/standard-options.ts";
import { checkReference } from "./check-reference.ts";
import { rolloutSampling } from "./rollout-sampling.ts";
import type { PlayMode } from "../play/stage-play.ts";
import { type StageGoal, stageGoal } from "./stage-goal.ts";

/** Learner of a stage that is ready to start. */
export interface PreparedLearner {
  readonly policy: PolicyId;
  readonly definition: AlgorithmDefinition;
  /** Options as the algorithm's schema returned them. */
  readonly options: unknown;
  /** Sampling of the policy in this stage. */
  readonly sampling: RolloutSampling;
  /** Episodes that the algorithm learns from; `undefined` if it plays none. Equal for all learners of a stage but for their names. */
  readonly plan: PlayPlan | undefined;
}

/** Stage that is ready to start. */
export interface PreparedStage {
  readonly name: string;
  /** In the order in which they learn; at least one. */
  readonly learners: readonly PreparedLearner[];
  readonly iterations: number;
  readonly goal?: StageGoal;
}

interface StageParts {
  readonly loaded: LoadedConfig;
  readonly config: ResolvedConfig;
  readonly algorithms: AlgorithmSource;
  readonly environments: readonly (TrainingEnvironment & Pick<RolloutRequest, "players" | "sides">)[];
}

/** Keys of a learner other than its algorithm's options. */
const LEARNER_KEYS = ["name", "sampling", "until", "curriculum", "reference_model", "options"];

/** Checks a stage against the plugins, the environments and the files that it reads. Rejects with CONFIG_INVALID or DATA_INVALID, with the place. */
export async function prepareStage(parts: StageParts, index: number): Promise<PreparedStage> {
  const { config, loaded, environments } = parts;
  const stage = config.stages[index] as ResolvedStage;
  const learners: PreparedLearner[] = [];
  for (const policy of Object.keys(stage.learners)) learners.push(await prepareLearner(parts, index, policy));
  assertEqualPlay(loaded, index, learners);
  const [first] = learners as [PreparedLearner];
  const { until, curriculum } = stage;
  if (curriculum !== undefined && first.plan === undefined)
    throw configError(loaded.source, [
      {
        path: ["stages", index, "curriculum"],
        at: "key",
        text: `curriculum has no effect: ${first.definition.id} plays no episodes here`,
      },
    ]);
  const unbounded = environments.findIndex(({ rewardRange: range = [0, 1] }) => !range.every(Number.isFinite));
  if (curriculum !== undefined && unbounded !== -1)
    throw configError(loaded.source, [
      {
        path: ["stages", index, "curriculum"],
        at: "key",
        text: `curriculum needs pass rates, and the rewards of ${config.environments[unbounded]?.id} have no finite \`rewardRange\``,
      },
    ]);
  if (until !== undefined && environments.length === 0)
    throw configError(loaded.source, [
      {
        path: ["stages", index, "until"],
        at: "key",
        text: "until is measured on tasks of the environments, and there are none",
      },
    ]);
  const goal = until === undefined ? {} : { goal: stageGoal(until, environments, config.environments) };
  return { name: stage.name, learners, iterations: first.definition.iterations(first.options), ...goal };
}

/**
 * Checks the options of all learners, and whether they can learn from episodes that are played ahead of them: what needs no environment, and so no process.
 * Rejects with CONFIG_INVALID, with the place.
 */
export async function checkLearners(loaded: LoadedConfig, algorithms: AlgorithmSource): Promise<void> {
  const { config } = loaded;
  for (const [index, { learners }] of config.stages.entries())
    for (const policy of Object.keys(learners)) {
      const learner = await parseLearner({ loaded, config, algorithms }, index, policy);
      await at(loaded, loaded.learnerPath(index, policy, []), async () => planOf(config, learner));
    }
}

async function prepareLearner(parts: StageParts, index: number, policy: PolicyId): Promise<PreparedLearner> {
  const { loaded, config, environments } = parts;
  const stage = config.stages[index] as ResolvedStage;
  const learner = stage.learners[policy] as ResolvedLearner;
  const place = loaded.learnerPath(index, policy, []);
  const parsed = await parseLearner(parts, index, policy);
  const { definition, options, sampling } = parsed;
  const isUsed = definition.memory?.(options).reference === true;
  checkReference({ loaded, config }, index, policy, { isUsed, isTeacher: definition.needsTeacher?.(options) === true });
  const plan = await at(loaded, place, async () => {
    const found = planOf(config, parsed);
    if (found !== undefined && environments.length === 0)
      throw new MrlmError("CONFIG_INVALID", `${definition.id} has no environment to play in.`, {
        hint: "Add one under `environments`.",
      });
    if (found !== undefined && !environments.some(({ players }) => isPlayedBy(players, policy)))
      throw new MrlmError(
        "CONFIG_INVALID",
        `${definition.id} trains the policy "${policy}", which plays no role in any environment.`,
        { hint: "Name it under `players` of an environment. Its earlier versions (`past`) are not learnt from." },
      );
    definition.validate?.(options, environments, sampling);
    if (found?.branches !== undefined) assertRepeatable(environments, definition.id);
    return found;
  });
  // Reads each data file once before the run starts, so that a missing or damaged file is reported within seconds.
  for (const path of definition.files?.(options) ?? [])
    await at(loaded, [...place, "data"], async () => {
      const rows = await someRows(path, config.base_directory);
      definition.checkRows?.(options, path, rows);
    });
  if (plan === undefined && !isEqual(sampling, rolloutSampling(samplingOf(config, policy))))
    throw configError(loaded.source, [
      {
        path: [...(learner.sampling === undefined ? ["stages", index] : place), "sampling"],
        at: "key",
        text: `sampling of this stage has no effect: ${definition.id} plays no episodes here (evaluations sample as the run does)`,
      },
    ]);
  return { policy, definition, options, sampling, plan };
}

/** Learner whose options were checked. */
type ParsedLearner = Omit<PreparedLearner, "plan">;

async function parseLearner(
  { loaded, config, algorithms }: Pick<StageParts, "loaded" | "config" | "algorithms">,
  index: number,
  policy: PolicyId,
): Promise<ParsedLearner> {
  const stage = config.stages[index] as ResolvedStage;
  const learner = stage.learners[policy] as ResolvedLearner;
  const place = loaded.learnerPath(index, policy, []);
  const definition = await at(loaded, [...place, "algorithm"], () => algorithms.algorithm(learner.algorithm));
  const outcome = await validateOptions(definition.options, learner.options);
  if (!outcome.ok) {
    const problems = optionProblems(
      [],
      (path) => [...keysOf(definition.options, path), ...(path.length === 0 ? LEARNER_KEYS : [])],
      outcome.issues,
    );
    throw configError(
      loaded.source,
      problems.map((problem) => ({
        ...problem,
        path: loaded.learnerPath(index, policy, problem.path),
        text: `${problem.text} (an option of ${definition.id})`,
      })),
      // A wrong value, and a key with a guess, need no list of keys.
      problems.every(({ at, hasGuess }) => at === "value" || hasGuess === true)
        ? `The README of ${definition.id} has every option.`
        : `Options of ${definition.id}: ${[...LEARNER_KEYS, ...keysOf(definition.options, [])].join(", ")}.`,
    );
  }
  const options = outcome.value;
  const sampling = rolloutSampling(samplingOf(config, policy, stage));
  return { policy, definition, options, sampling };
}

/** Returns the plan of a learner. Throws CONFIG_INVALID where it cannot learn from the episodes of the mode of play. */
function planOf(config: ResolvedConfig, { definition, options, sampling }: ParsedLearner): PlayPlan | undefined {
  const plan = definition.plays?.(options, sampling);
  if (plan !== undefined) assertLearnsFromOlder(config.play, plan, definition.id);
  return plan;
}

/** Throws CONFIG_INVALID where an algorithm cannot learn from the episodes that are played ahead of it. */
function assertLearnsFromOlder({ mode, lag }: PlayMode, { uncorrected, maxStaleness }: PlayPlan, id: string): void {
  if (lag === 0) return;
  const refuse = (reason: string): never => {
    throw new MrlmError(
      "CONFIG_INVALID",
      `play.mode ${mode} plays episodes with weights of up to ${lag} batches before, and ${id} ${reason}.`,
    );
  };
  if (uncorrected !== undefined) refuse(`has a wrong gradient for them: ${uncorrected}`);
  if (maxStaleness !== undefined && maxStaleness < lag) refuse(`refuses them: max_staleness is ${maxStaleness}`);
}

/** Throws CONFIG_INVALID where the actions of an episode cannot be repeated, and so no branch can be played. */
function assertRepeatable(environments: StageParts["environments"], id: string): void {
  for (const { ref, determinism, snapshots = false, players } of environments) {
    const outside = Object.values(typeof players === "object" ? players : {}).flatMap((player) =>
      "isOutside" in player && player.isOutside ? player.name : [],
    );
    const isRepeatable = determinism === "full" || snapshots;
    if (isRepeatable && outside.length === 0) continue;
    const reason = isRepeatable
      ? `is played by ${outside.join(", ")}, which may answer otherwise when it is asked again`
      : `has determinism "${determinism}" and no snapshots here`;
    throw new MrlmError(
      "CONFIG_INVALID",
      `${id} plays branches, which repeat the actions of an episode, and environment ${ref.id} ${reason}.`,
      { hint: "Set another `credit`, such as credit: turn, or train on environments whose determinism is full." },
    );
  }
}

/** Throws CONFIG_INVALID where the learners of a stage cannot learn from the same play. */
function assertEqualPlay(loaded: LoadedConfig, index: number, learners: readonly PreparedLearner[]): void {
  const [first, ...others] = learners as [PreparedLearner, ...PreparedLearner[]];
  if (others.length === 0) return;
  const refuse = ({ policy }: PreparedLearner, text: string): never => {
    throw configError(loaded.source, [{ path: loaded.learnerPath(index, policy, []), at: "key", text }]);
  };
  for (const learner of learners) {
    const { plan, definition } = learner;
    if (plan?.accept !== undefined || (plan?.refills ?? 0) > 0)
      refuse(
        learner,
        `${definition.id} chooses among the groups of a play under these options, which other learners of this stage learn from too`,
      );
  }
  const facts = ({ definition, options, plan }: PreparedLearner): Readonly<Record<string, number>> => ({
    iterations: definition.iterations(options),
    ...(plan === undefined
      ? { groups: 0 }
      : {
          groups: plan.groups,
          group_size: plan.groupSize,
          every: plan.every ?? 1,
          branches: plan.branches?.count ?? 0,
          branch_every: plan.branches?.every ?? 0,
        }),
  });
  const wanted = facts(first);
  for (const learner of others) {
    const own = facts(learner);
    const different = [...new Set([...Object.keys(wanted), ...Object.keys(own)])].filter(
      (key) => wanted[key] !== own[key],
    );
    const shown = (of: Readonly<Record<string, number>>): string =>
      different.map((key) => `${key} ${of[key] ?? "none"}`).join(", ");
    if (different.length > 0)
      refuse(
        learner,
        `the learners of a stage learn from one play: ${learner.policy} has ${shown(own)}, ${first.policy} ${shown(wanted)}`,
      );
  }
}

/** Whether a policy plays a role with its present weights. */
function isPlayedBy(players: RolloutRequest["players"], policy: PolicyId): boolean {
  if (typeof players === "string") return players === policy;
  return Object.values(players).some((player) => player.kind === "policy" && player.policy === policy);
}

function isEqual(one: RolloutSampling, other: RolloutSampling): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function someRows(path: string, directory: string): Promise<readonly JsonValue[]> {
  const rows = await readRows(path, directory);
  if (rows.length > 0) return rows;
  throw new MrlmError("DATA_INVALID", `The data file ${path} has no rows.`, {
    hint: "It must have one JSON object on each line, or rows if it is a Parquet file.",
  });
}
