import { type AlgorithmRun, MrlmError } from "@mrlm/spec";
import type { ResolvedConfig } from "../config/resolved-config.ts";
import { Learner } from "../play/learner.ts";
import { EngineClock } from "./engine-clock.ts";
import type { PreparedStage } from "./prepare-run.ts";
import { RandomStreams } from "./random-streams.ts";
import { recordIteration } from "./record-iteration.ts";
import { publishPolicy, releaseStageModels, type RunContext } from "./run-context.ts";
import { evaluatePolicy, hasReachedGoal } from "./run-evaluation.ts";
import { rolloutSampling, stageContext, stageSeed } from "./stage-context.ts";
import { writeCheckpoint } from "./write-checkpoint.ts";

/**
 * Runs a stage, from its beginning or from where its checkpoint was written, to its end. If the run is asked to stop, it ends after the current iteration,
 * with a checkpoint.
 */
export async function runStage(context: RunContext, stage: PreparedStage): Promise<void> {
  const { state, engine, drain, stop } = context;
  const streams = new RandomStreams(stageSeed(context.prepared.config.seed, state.stage), state.random);
  const learner = stageLearner(context, stage);
  const algorithm = await beginStage(context, stage, streams, learner);
  const reports = algorithm.run()[Symbol.asyncIterator]();
  const clock = await EngineClock.start(engine);
  for (;;) {
    if (stop.aborted) throw new MrlmError("CANCELLED", "The run was stopped.", { cause: stop.reason });
    const began = performance.now();
    const next = await reports.next();
    if (next.done === true) break;
    const total = (performance.now() - began) / 1000;
    await learner.settle(next.value.credits ?? []);
    await recordIteration(context, stage, next.value, learner.lap(), { total, engine: await clock.lap() });
    const due = dueAfter(context, stage);
    if (due.goal !== undefined && (await hasReachedGoal(context, stage, due.goal))) {
      await reports.return?.();
      break;
    }
    state.isEvaluationDue = due.evaluation;
    if (due.evaluation) await evaluatePolicy(context);
    const isStopping = drain.aborted && !due.end;
    if (isStopping || due.checkpoint) {
      state.algorithm = algorithm.state();
      state.random = streams.state();
      state.learners = { [learnerId(context)]: learner.state() };
      // A checkpoint that is written only because the run stops must not change later weight versions: it publishes nothing.
      if (due.checkpoint) await publishPolicy(context);
      await writeCheckpoint(context);
    }
    if (isStopping) return void (await reports.return?.());
    // The compute time of evaluations and checkpoints belongs to no iteration.
    if (due.goal !== undefined || due.evaluation || due.checkpoint) await clock.lap();
  }
  await endStage(context, algorithm, streams, learner);
}

/** Creates the learner of a stage's policy, or restores it where the stage had begun before. */
function stageLearner(context: RunContext, { name, definition, plan }: PreparedStage): Learner {
  const { prepared, state, policy, rollouts, episodes, stop } = context;
  const { seed, stages, play } = prepared.config;
  const { sampling } = stages[state.stage] as ResolvedConfig["stages"][number];
  return new Learner(
    {
      algorithm: definition.id,
      plan,
      stage: state.stage,
      stageName: name,
      policy: policy.info.model,
      sampling: rolloutSampling(sampling),
      environments: prepared.environments,
      seed: stageSeed(seed, state.stage),
      cohorts: play.cohorts,
      rollouts,
      store: episodes,
      progress: () => ({ iteration: state.iteration + 1, runStep: state.step + 1 }),
      publish: () => publishPolicy(context),
      signal: stop,
    },
    state.learners[learnerId(context)],
  );
}

/** Returns the name of the current stage's learner: `STAGE/POLICY`. */
function learnerId({ state, policy }: RunContext): string {
  return `${state.stage}/${policy.info.model}`;
}

/** Creates the algorithm of a stage and restores its state if the stage had begun before. */
async function beginStage(
  context: RunContext,
  stage: PreparedStage,
  streams: RandomStreams,
  learner: Learner,
): Promise<AlgorithmRun> {
  const { prepared, state, engine, policy, logger, stop, onEvent } = context;
  const { stage: index, iteration, algorithm: saved } = state;
  if (saved === null) {
    state.ended = null;
    await releaseStageModels(context);
  }
  onEvent({
    kind: "stage",
    index,
    name: stage.name,
    iterations: stage.iterations,
    iteration,
    stages: prepared.stages.length,
    description: stage.definition.description,
    ...(stage.goal === undefined ? {} : { until: stage.goal.accuracy }),
  });
  const algorithm = await stage.definition.create(
    stageContext({
      index,
      config: prepared.config,
      engine,
      policy: policy.info,
      restored: policy.restored,
      renderer: policy.renderer,
      episodes: learner,
      environments: prepared.environments,
      streams,
      onData: (path, sha256) => recordData(context, path, sha256),
      logger,
      signal: stop,
    }),
    stage.options,
  );
  if (saved !== null) algorithm.restore(saved);
  else await publishPolicy(context);
  return algorithm;
}

/**
 * Returns the work that is due after the iteration that has just been recorded. After the last one, only the goal is
 * measured: the end of the stage does the rest.
 */
function dueAfter(
  { prepared: { config }, state: { iteration } }: RunContext,
  { iterations, goal }: PreparedStage,
): {
  readonly end: boolean;
  readonly goal: PreparedStage["goal"];
  readonly evaluation: boolean;
  readonly checkpoint: boolean;
} {
  const end = iteration >= iterations;
  const isAt = (every: number): boolean => every > 0 && iteration % every === 0;
  return {
    end,
    goal: goal !== undefined && (end || isAt(goal.every)) ? goal : undefined,
    evaluation: !end && isAt(config.eval.every),
    checkpoint: !end && isAt(config.checkpoint.every),
  };
}

/** Records the end of a stage and writes a checkpoint. The last stage keeps its state and models, so that it can be made longer. */
async function endStage(
  context: RunContext,
  algorithm: AlgorithmRun,
  streams: RandomStreams,
  learner: Learner,
): Promise<void> {
  const { prepared, state } = context;
  const isLast = state.stage === prepared.stages.length - 1;
  const { stage, iteration, data } = state;
  const learners = { [learnerId(context)]: learner.state() };
  await learner.end();
  if (!isLast) await releaseStageModels(context);
  Object.assign(state, {
    stage: stage + 1,
    iteration: 0,
    algorithm: null,
    random: {},
    learners: {},
    data: {},
    ended: isLast ? { iteration, algorithm: algorithm.state(), random: streams.state(), learners, data } : null,
    isEvaluationDue: prepared.evaluation.length > 0,
  });
  await publishPolicy(context);
  await writeCheckpoint(context);
}

/** Throws CHECKPOINT_MISMATCH for a data file that has changed since the run first read it: positions in it would mean other rows. */
function recordData({ state }: RunContext, path: string, sha256: string): void {
  const before = state.data[path];
  if (before !== undefined && before !== sha256)
    throw new MrlmError(
      "CHECKPOINT_MISMATCH",
      `The data file ${path} has changed since the run read it: its SHA-256 was ${before} and is ${sha256}.`,
      {
        hint: "Put the file back as it was, or start a new run.",
      },
    );
  state.data[path] = sha256;
}
