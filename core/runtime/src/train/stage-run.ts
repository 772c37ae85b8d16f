import { MrlmError } from "@mrlm/spec";
import type { Trainer } from "@mrlm/spec/host";
import type { PreparedStage } from "../prepare/prepare-stage.ts";
import { recordIteration } from "./record-iteration.ts";
import { publishPolicies, releaseStageModels, type RunContext } from "./run-context.ts";
import { StageLearner } from "./stage-learner.ts";

/**
 * Runs a stage, from its beginning or from where its checkpoint was written, to its end. If the run is asked to stop, it ends after the current iteration,
 * with a checkpoint.
 */
export async function runStage(context: RunContext, stage: PreparedStage): Promise<void> {
  const learner = await beginStage(context, stage);
  try {
    await learn(context, stage, learner);
  } finally {
    await learner.close();
  }
}

async function learn(context: RunContext, stage: PreparedStage, learner: StageLearner): Promise<void> {
  const { state, engine, rendering, duties, drain, stop } = context;
  const clock = await EngineClock.start(engine);
  rendering.lap();
  for (;;) {
    if (stop.aborted) throw new MrlmError("CANCELLED", "The run was stopped.", { cause: stop.reason });
    const learnt = await learner.next();
    if (learnt === undefined) break;
    const { report, batch, seconds: total } = learnt;
    const seconds = { total, engine: await clock.lap(), rendering: rendering.lap() };
    await recordIteration(context, stage, report, batch, seconds);
    const due = dueAfter(context, stage);
    // A publication must not change the weights of a play under way.
    const settled = async (): Promise<void> => (duties.plays ? learner.settled() : undefined);
    if (due.goal !== undefined || due.evaluation) await settled();
    if (due.goal !== undefined && (await duties.hasReachedGoal(context, stage, due.goal))) {
      await learner.stop();
      break;
    }
    state.isEvaluationDue = due.evaluation;
    if (due.evaluation) await duties.evaluate(context);
    const isStopping = drain.aborted && !due.end;
    if (isStopping || due.checkpoint) {
      await settled();
      Object.assign(state, learner.state());
      // A checkpoint that is written only because the run stops must not change later weight versions: it publishes nothing.
      if (due.checkpoint) await publishPolicies(context);
      await duties.checkpoint(context);
    }
    if (isStopping) return learner.stop();
    // The time of evaluations and checkpoints belongs to no iteration.
    if (due.goal !== undefined || due.evaluation || due.checkpoint) await clock.lap();
    if (due.goal !== undefined || due.evaluation) rendering.lap();
  }
  await endStage(context, learner);
}

/** Emits the event of a stage and creates its learner. A new stage begins without the models of the one before. */
async function beginStage(context: RunContext, stage: PreparedStage): Promise<StageLearner> {
  const { prepared, state, onEvent } = context;
  const { mode, lag } = prepared.config.play;
  const isNew = state.algorithms === null;
  const [{ plan } = {}] = stage.learners;
  if (isNew) {
    state.ended = null;
    await releaseStageModels(context);
  }
  onEvent({
    kind: "stage",
    index: state.stage,
    name: stage.name,
    iterations: stage.iterations,
    iteration: state.iteration,
    stages: prepared.stages.length,
    ...(plan === undefined ? {} : { batch: plan.groups * plan.groupSize }),
    ...(stage.learners.length > 1 && { learners: stage.learners.map(({ policy }) => policy) }),
    description: describeLearners(stage),
    ...(stage.goal === undefined ? {} : { until: stage.goal.accuracy }),
    ...(mode === "sync" || stage.learners.every(({ plan }) => plan === undefined) ? {} : { play: { mode, lag } }),
  });
  const learner = await StageLearner.start(context, stage);
  if (isNew) await publishPolicies(context);
  return learner;
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
async function endStage(context: RunContext, learner: StageLearner): Promise<void> {
  const { prepared, state } = context;
  const { stage, iteration, data } = state;
  const isLast = stage === prepared.stages.length - 1;
  await learner.end();
  if (!isLast) await releaseStageModels(context);
  Object.assign(state, {
    stage: stage + 1,
    iteration: 0,
    algorithms: null,
    random: {},
    learners: {},
    data: {},
    ended: isLast ? { ...learner.state(), iteration, data } : null,
    isEvaluationDue: prepared.evaluation.length > 0,
  });
  await publishPolicies(context);
  await context.duties.checkpoint(context);
}

/** Describes the algorithms of a stage; with the names of the policies where there are several. */
function describeLearners({ learners }: PreparedStage): string {
  return learners
    .map(({ policy, definition }) =>
      learners.length === 1 ? definition.description : `${policy}: ${definition.description}`,
    )
    .join(" ");
}

/** Stopwatch over the compute time of the engine, in seconds. Each reading is one `describe()`. */
class EngineClock {
  readonly #engine: Trainer;
  #before: number;

  private constructor(engine: Trainer, before: number) {
    this.#engine = engine;
    this.#before = before;
  }

  static async start(engine: Trainer): Promise<EngineClock> {
    return new EngineClock(engine, (await engine.describe()).computeSeconds);
  }

  /** Returns the compute seconds since the start or the last lap. */
  async lap(): Promise<number> {
    const { computeSeconds } = await this.#engine.describe();
    const seconds = computeSeconds - this.#before;
    this.#before = computeSeconds;
    return seconds;
  }
}
