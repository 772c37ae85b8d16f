import { EvaluationPlan, type EvaluationResult, playMissing, storedResults } from "@mrlm/runtime";
import { defined, type JsonObject, MrlmError, type TaskId } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import type { Console } from "../console/console.ts";
import { count, grouped } from "../console/numbers.ts";
import { playProgress } from "../console/play-progress.ts";
import { progressBar } from "../console/progress-bar.ts";
import { episodesPlan, turnLimit } from "../console/run-plan.ts";
import { VERSION } from "../version.ts";
import { unlessLost } from "./environments.ts";
import type { EvaluationCell } from "./evaluation-cells.ts";
import { cellIdentity } from "./evaluation-identity.ts";
import type { EvaluationRun, RecordedResult } from "./evaluation-run.ts";
import { openRolloutSession, type RolloutSession } from "./rollout-session.ts";
import type { RolloutSessionConfig } from "./rollout-session-config.ts";
import { plainJson } from "./plain-json.ts";

/** Results of one model in one environment: one for each role that is measured. */
export interface MeasuredResults {
  readonly results: readonly RecordedResult[];
  /** The same for programs. */
  readonly record: JsonObject;
}

/**
 * Plays the missing episodes of a model in an environment, and returns the results over all. The engine is not started where none is missing.
 * @param options.open opens the directory of the evaluation, so that a wrong argument leaves none behind
 * @param options.onStopped called before a rejection, with the results of the episodes that had ended
 */
export async function measureCell(
  context: CommandContext,
  cell: EvaluationCell,
  given: RolloutSessionConfig,
  options: {
    readonly drain: AbortSignal;
    readonly retries: boolean;
    /** Returns the name of an environment among those of the model: `math@2`, or `math@2#2` for the second one of this id. */
    readonly labelOf: (id: string) => string;
    /** Plays the missing episodes; default: all together, with a bar of their progress. */
    readonly play?: (plan: EvaluationPlan, session: RolloutSession, run: EvaluationRun) => Promise<void>;
    readonly open: (config: RolloutSessionConfig["config"]) => Promise<EvaluationRun>;
    readonly onStopped: (measured: MeasuredResults) => void;
  },
): Promise<MeasuredResults> {
  const { console } = context;
  const { drain, retries, labelOf, play = playAll(console, drain), open, onStopped } = options;
  const { args, samples } = cell;
  let begun: { readonly plan: EvaluationPlan; readonly run: EvaluationRun } | undefined;
  const session = await openRolloutSession(context, args, given, drain, async (environment, sampling) => {
    const identity = await cellIdentity(given, environment);
    const { ref, size, players, sides, maxTurns, description } = environment;
    const { first = 0 } = cell;
    if (first >= size)
      throw new MrlmError("USAGE", `There is no task ${args.split}/${first}: split ${args.split} has ${size} tasks.`);
    const tasks = Math.min(size - first, cell.tasks);
    if (first === 0 && tasks < cell.tasks && cell.isExact)
      console.note(`note: split ${args.split} has ${size} tasks: all of them are played`);
    const run = await open(given.config);
    run.describe(given.config, environment);
    const reader = run.read();
    const planned = {
      environment: {
        ...{ ref, players, tasks: Array.from({ length: tasks }, (_, i): TaskId => `${args.split}/${first + i}`) },
        ...defined({ sides, maxTurns, rewardRange: description.rewardRange }),
      },
      label: labelOf(ref.id),
      ...{ ...sampling, samples, identity },
    };
    const plan = new EvaluationPlan(planned, reader, { retries });
    reader.close();
    begun = { plan, run };
    const sampled = plan.kinds.length > 1 ? ` and ${samples} times sampled` : "";
    const turns = turnLimit(maxTurns, description.maxTurns);
    const stored = plan.total - plan.missing;
    console.note(
      `plan: ${count(tasks, "task")}, once greedily${sampled} = ${episodesPlan(plan.total, turns, sampling.sampling.maxTokens)}${stored === 0 ? "" : `; ${grouped(stored)} are stored, ${grouped(plan.missing)} are played`}`,
    );
    return plan.missing > 0;
  });
  try {
    const { plan, run } = begun as unknown as NonNullable<typeof begun>;
    const measured = (): MeasuredResults => measuredResults(cell, given, plan, run, session.engine.versions);
    if (plan.missing === 0) return measured();
    try {
      await play(plan, session, run);
    } catch (error) {
      onStopped(measured());
      throw error;
    }
    return measured();
  } finally {
    await session.close();
  }
}

function playAll(console: Console, drain: AbortSignal) {
  return async (plan: EvaluationPlan, session: RolloutSession, run: EvaluationRun): Promise<void> => {
    const bar = progressBar(console, "eval");
    const onProgress = playProgress(bar, session.tally);
    let done = plan.total - plan.missing;
    onProgress(done, plan.total);
    const playing = playMissing(plan, {
      ...{ rollouts: session.rollouts, store: run.store },
      signal: AbortSignal.any([drain, session.lost]),
      onEpisode: () => onProgress(++done, plan.total),
    });
    try {
      await unlessLost(session.lost, playing);
    } finally {
      bar.end();
      // The store may still receive the last episodes where the environments were lost.
      await playing.catch(() => undefined);
    }
  };
}

function measuredResults(
  { name, first: begin = 0, args: { split } }: EvaluationCell,
  { config, modelDirectory, endpoint }: RolloutSessionConfig,
  plan: EvaluationPlan,
  run: EvaluationRun,
  versions: object,
): MeasuredResults {
  const reader = run.read();
  const found: readonly EvaluationResult[] = storedResults(plan, reader);
  reader.close();
  const { environment, sampling } = plan.cell;
  const results = found.map((result): RecordedResult => ({
    ...result,
    ...{ name: name ?? modelDirectory, model: modelDirectory, split },
    episodes: plan.kinds.map(({ label, key, size, tasks }) => ({
      ...{ label, key, size, tasks: tasks.length },
      ...(begin === 0 ? {} : { first: begin }),
    })),
    environment_key: plan.environmentKey,
  }));
  const [first] = found;
  // Each role has its own result if the model plays several.
  const numbers =
    found.length === 1 ? first : { environment: plan.cell.label, tasks: first?.tasks ?? 0, results: found };
  const record = plainJson({
    ...numbers,
    ...(name === undefined ? {} : { name }),
    model: modelDirectory,
    ...(endpoint === undefined ? {} : { endpoint: endpoint.endpoint, model_options: endpoint.options ?? {} }),
    ...{ options: environment.ref.options ?? {}, split, sampling, seed: config.seed },
    versions: { mrlm: VERSION, ...versions },
  });
  return { results, record };
}
