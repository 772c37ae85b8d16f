import {
  type AlgorithmRun,
  type Engine,
  type EnvironmentHost,
  type EnvironmentRef,
  type IterationReport,
  type LoadOptions,
  type Logger,
  MrlmError,
  type Trajectory,
} from "@mrlm/spec";
import type { ResolvedConfig } from "../config/resolved-config.ts";
import { RolloutRunner } from "../rollouts/rollout-runner.ts";
import type { Checkpoint } from "../run/checkpoints.ts";
import { type MetricsRow, plainMetrics } from "../run/metrics-file.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import type { TrajectoryStore } from "../run/trajectory-store.ts";
import { assertScored } from "../evaluation/assert-scored.ts";
import { evaluate, evaluationRow } from "../evaluation/evaluate.ts";
import { FailureWatch } from "./failure-watch.ts";
import { type LoadedPolicy, loadPolicy } from "./loaded-policy.ts";
import type { PreparedRun, PreparedStage } from "./prepare-run.ts";
import { RandomStreams } from "./random-streams.ts";
import type { RunEvent, RunSummary } from "./run-events.ts";
import { describeExtension, type Extension } from "./resume-compatibility.ts";
import { type Identities, initialState, loadState, type RunState, saveState } from "./run-state.ts";
import { goalAccuracy } from "./stage-goal.ts";
import { MemoryWatch } from "./memory-watch.ts";
import { watchEngine } from "./watched-engine.ts";
import { rolloutSampling, stageContext, stageSeed } from "./stage-context.ts";

/** What a run is made of. */
export interface TrainingRunParts {
  readonly prepared: PreparedRun;
  readonly run: RunDirectory;
  readonly host: EnvironmentHost;
  readonly engine: Engine;
  readonly isDeterministic: boolean;
  /** Where to go on; `undefined` starts at the beginning. */
  readonly checkpoint: Checkpoint | undefined;
  readonly store: TrajectoryStore | undefined;
  /** Store of the evaluations' episodes. */
  readonly evaluations: TrajectoryStore | undefined;
  readonly logger: Logger;
  readonly onEvent: (event: RunEvent) => void;
  /** Aborted: finish the iteration, write a checkpoint, stop. */
  readonly drain: AbortSignal;
  /** Aborted: stop at once. */
  readonly stop: AbortSignal;
}

/** One training job at work: its stages, with evaluations and checkpoints between iterations. */
export class TrainingRun {
  readonly #parts: TrainingRunParts;
  readonly #state: RunState;
  readonly #policy: LoadedPolicy;
  readonly #rollouts: RolloutRunner;
  readonly #memory = new MemoryWatch();
  /** The engine, noting whether the policy's weights are published, and where memory ran out. */
  readonly #engine: Engine;
  readonly #failures = new FailureWatch();

  private constructor(parts: TrainingRunParts, state: RunState, policy: LoadedPolicy) {
    const { prepared, host, isDeterministic, logger } = parts;
    const { sampling, server, seed, environments } = prepared.config;
    // By the entry itself: two may differ in their limits alone, and what is measured has limits of its own.
    const turnLimits = new Map<EnvironmentRef, number>(
      prepared.environments.map(({ ref }, i) => [ref, environments[i]?.max_turns ?? 0]),
    );
    this.#parts = parts;
    this.#state = state;
    this.#policy = policy;
    this.#engine = watchEngine(parts.engine, policy.info.model, state, {
      onPass: (model, result) => this.#memory.note(model, result),
      microBatchTokens: state.microBatchTokens ?? undefined,
    });
    this.#rollouts = new RolloutRunner({
      host,
      engine: this.#engine,
      runSeed: seed,
      isDeterministic,
      concurrency: sampling.concurrency,
      reconnection: { patienceMs: server.reconnect_seconds * 1000, firstDelayMs: 100 },
      logger,
      renderer: () => policy.renderer,
      tokenLimit: () => Math.min(policy.info.maxPositions, sampling.max_sequence_tokens ?? Infinity),
      turnLimit: (environment) => turnLimits.get(environment) ?? 0,
    });
  }

  static async start(parts: TrainingRunParts): Promise<TrainingRun> {
    const { checkpoint, engine, prepared, run, store, evaluations, onEvent } = parts;
    const { state, extension } =
      checkpoint === undefined
        ? { state: initialState(), extension: undefined }
        : loadState(checkpoint.path, checkpoint.state, prepared.config, identitiesOf(prepared));
    const changed = memoryOf(extension, prepared.config);
    const policy = await loadPolicy(engine, prepared, run, checkpoint, { changed, onEvent });
    const budget = changed.microBatchTokens ?? policy.microBatchTokens ?? state.microBatchTokens;
    state.microBatchTokens = budget === 0 ? null : budget;
    // Only now: what cannot be gone on with must not cost the run its later steps.
    if (extension !== undefined && extension.changed.length + extension.added > 0) run.writeConfig(prepared.config);
    for (const text of extension === undefined ? [] : describeExtension(extension, prepared.config))
      onEvent({ kind: "notice", text });
    const dropped = run.checkpoints.clean(checkpoint);
    if (dropped.length > 0)
      onEvent({
        kind: "notice",
        text: `The run goes back to step ${state.step}: later checkpoints are removed (${dropped.join(", ")}).`,
      });
    run.metrics.keep((row) => isKept(row, state));
    for (const each of [store, evaluations]) each?.truncateAfter(state.step);
    return new TrainingRun(parts, state, policy);
  }

  async finish(): Promise<RunSummary> {
    const { prepared, run, checkpoint, drain, onEvent } = this.#parts;
    const { stages } = prepared;
    onEvent({
      kind: "start",
      directory: run.path,
      stages: stages.map(({ name, iterations }) => ({ name, iterations })),
      resumedAt: checkpoint === undefined ? undefined : this.#state.step,
    });
    while (this.#state.stage < stages.length) {
      if (this.#state.isEvaluationDue) await this.#evaluate();
      if (drain.aborted) return this.#summary("stopped");
      await this.#playStage(stages[this.#state.stage] as PreparedStage);
    }
    if (this.#state.isEvaluationDue) await this.#evaluate();
    if (drain.aborted) return this.#summary("stopped");
    await this.#export(run.modelPath);
    await this.#releaseOthers();
    return this.#summary("finished");
  }

  /** Plays a stage to its end, or, when the run is asked to stop, to the end of the iteration; a checkpoint has been written then. */
  async #playStage(stage: PreparedStage): Promise<void> {
    const { logger, stop, onEvent } = this.#parts;
    const engine = this.#engine;
    const { config, environments } = this.#parts.prepared;
    const { stage: index, iteration, random } = this.#state;
    const { info: policy, renderer, restored } = this.#policy;
    const streams = new RandomStreams(stageSeed(config.seed, index), random);
    if (this.#state.algorithm === null) {
      this.#state.ended = null;
      await this.#releaseOthers();
    }
    onEvent({ kind: "stage", index, name: stage.name, iterations: stage.iterations, iteration, ...this.#about(stage) });
    const context = stageContext({
      index,
      config,
      engine,
      policy,
      restored,
      renderer,
      rollouts: this.#rollouts,
      environments,
      streams,
      onData: (path, sha256) => this.#noteData(path, sha256),
      logger,
      signal: stop,
    });
    const algorithm = await stage.definition.create(context, stage.options);
    if (this.#state.algorithm !== null) algorithm.restore(this.#state.algorithm);
    else await this.#publish();
    const reports = algorithm.run()[Symbol.asyncIterator]();
    for (;;) {
      if (stop.aborted) throw new MrlmError("CANCELLED", "The run was stopped.", { cause: stop.reason });
      const { computeSeconds } = await engine.describe();
      const began = performance.now();
      const next = await reports.next();
      if (next.done === true) break;
      const seconds = (performance.now() - began) / 1000;
      this.#record(stage, next.value, {
        total: seconds,
        engine: (await engine.describe()).computeSeconds - computeSeconds,
      });
      if (await this.#hasReachedGoal(stage)) {
        await reports.return?.();
        break;
      }
      const isStopping = await this.#betweenIterations(stage, algorithm, streams);
      if (isStopping) return void (await reports.return?.());
    }
    await this.#endStage(index, algorithm, streams);
  }

  #about({ definition, goal }: PreparedStage): {
    readonly stages: number;
    readonly description: string;
    readonly until?: number;
  } {
    return {
      stages: this.#parts.prepared.stages.length,
      description: definition.description,
      ...(goal === undefined ? {} : { until: goal.accuracy }),
    };
  }

  /** Throws CHECKPOINT_MISMATCH for a file that is not what the run was begun with: positions in it would mean other rows. */
  #noteData(path: string, sha256: string): void {
    const before = this.#state.data[path];
    if (before !== undefined && before !== sha256)
      throw new MrlmError(
        "CHECKPOINT_MISMATCH",
        `The data file ${path} has changed since the run read it: its SHA-256 was ${before} and is ${sha256}.`,
        {
          hint: "Put the file back as it was, or start a new run.",
        },
      );
    this.#state.data[path] = sha256;
  }

  /** Whether the policy is as good as its stage asks for, measured where it is time to. */
  async #hasReachedGoal(stage: PreparedStage): Promise<boolean> {
    const { prepared, stop, run, onEvent } = this.#parts;
    const { goal, name } = stage;
    const { iteration, step } = this.#state;
    const isLast = iteration >= stage.iterations;
    if (goal === undefined || (iteration % goal.every !== 0 && !isLast)) return false;
    const began = performance.now();
    await this.#publish();
    const results = await evaluate({
      rollouts: this.#rollouts,
      environments: goal.environments,
      model: this.#policy.info.model,
      sampling: rolloutSampling(prepared.config.sampling),
      samples: 0,
      signal: stop,
    });
    const accuracy = goalAccuracy(results) ?? null;
    const seconds = (performance.now() - began) / 1000;
    this.#spend("evaluation", seconds);
    run.metrics.append({
      kind: "goal",
      step,
      stage: name,
      accuracy,
      wanted: goal.accuracy,
      seconds: { evaluation: seconds },
    });
    const isReached = accuracy !== null && accuracy >= goal.accuracy;
    const found = `greedy accuracy ${accuracy?.toFixed(3) ?? "unknown"} on training tasks after ${iteration} iterations`;
    if (isReached && !isLast) onEvent({ kind: "notice", text: `${name} ends: ${found} (until ${goal.accuracy}).` });
    if (!isReached && isLast)
      onEvent({ kind: "notice", text: `${name} ends without reaching its goal: ${found} (until ${goal.accuracy}).` });
    return isReached;
  }

  /** Evaluates and writes a checkpoint where it is time to; true when the run is to stop here. */
  async #betweenIterations(stage: PreparedStage, algorithm: AlgorithmRun, streams: RandomStreams): Promise<boolean> {
    const { eval: evaluation, checkpoint } = this.#parts.prepared.config;
    const { iteration } = this.#state;
    const isLast = iteration >= stage.iterations;
    this.#state.isEvaluationDue = evaluation.every > 0 && iteration % evaluation.every === 0 && !isLast;
    if (this.#state.isEvaluationDue) await this.#evaluate();
    const isStopping = this.#parts.drain.aborted && !isLast;
    const isScheduled = checkpoint.every > 0 && iteration % checkpoint.every === 0 && !isLast;
    if (isStopping || isScheduled) {
      this.#state.algorithm = algorithm.state();
      this.#state.random = streams.state();
      // One that is written only because the run is stopped changes nothing in what follows, the count of weight versions included.
      if (isScheduled) await this.#publish();
      await this.#checkpoint();
    }
    return isStopping;
  }

  /** The last stage keeps everything, so that it can be made longer. */
  async #endStage(index: number, algorithm: AlgorithmRun, streams: RandomStreams): Promise<void> {
    const isLast = index === this.#parts.prepared.stages.length - 1;
    const { iteration, data } = this.#state;
    if (!isLast) await this.#releaseOthers();
    Object.assign(this.#state, {
      stage: index + 1,
      iteration: 0,
      algorithm: null,
      random: {},
      data: {},
      ended: isLast ? { iteration, algorithm: algorithm.state(), random: streams.state(), data } : null,
      isEvaluationDue: this.#parts.prepared.evaluation.length > 0,
    });
    await this.#publish();
    await this.#checkpoint();
  }

  /** What a stage has made beside the policy (its reference, a critic) ends with it. */
  async #releaseOthers(): Promise<void> {
    const { engine } = this.#parts;
    const { models } = await engine.describe();
    for (const { model } of models.toReversed())
      if (model !== this.#policy.info.model) await engine.releaseModel(model);
  }

  /** @param seconds wall time of the iteration, and how much of it the engine computed */
  #record(
    stage: PreparedStage,
    reported: IterationReport,
    seconds: { readonly total: number; readonly engine: number },
  ): void {
    const { run, store, onEvent } = this.#parts;
    const state = this.#state;
    const report = this.#memory.addTo(reported);
    state.iteration = report.iteration;
    state.step++;
    state.trainingSeconds += seconds.total;
    for (const [phase, spent] of Object.entries(report.seconds)) this.#spend(phase, spent);
    const { metrics, counts } = plainMetrics(report.metrics);
    run.metrics.append({
      kind: "iteration",
      step: state.step,
      stage: stage.name,
      iteration: report.iteration,
      metrics,
      counts,
      seconds: { ...report.seconds, ...seconds },
      notices: [...(report.notices ?? [])],
    });
    store?.add(state.step, stage.name, report.trajectories ?? []);
    onEvent({
      kind: "iteration",
      stage: state.stage,
      name: stage.name,
      iterations: stage.iterations,
      step: state.step,
      report,
      seconds: seconds.total,
      engineSeconds: seconds.engine,
    });
    for (const text of report.notices ?? []) onEvent({ kind: "notice", text });
    const failure = this.#failures.watch(report);
    if (failure !== undefined) onEvent({ kind: "notice", text: failure });
  }

  /** Leaves the evaluation due when the run is asked to stop meanwhile. */
  async #evaluate(): Promise<void> {
    const { prepared, drain, stop, run, onEvent } = this.#parts;
    const { config, evaluation, stages } = prepared;
    if (evaluation.length === 0 || drain.aborted) return;
    const began = performance.now();
    await this.#publish();
    const label =
      this.#state.step === 0
        ? "start"
        : ((this.#state.iteration === 0 ? stages[this.#state.stage - 1] : stages[this.#state.stage])?.name ?? "start");
    try {
      const results = await evaluate({
        rollouts: this.#rollouts,
        environments: evaluation,
        model: this.#policy.info.model,
        sampling: rolloutSampling(config.sampling),
        samples: config.eval.samples,
        signal: AbortSignal.any([drain, stop]),
        onEpisodes: (kind, trajectories) => this.#keepEvaluated(kind, trajectories),
        onProgress: (done, total) => onEvent({ kind: "progress", done, total }),
      });
      const seconds = (performance.now() - began) / 1000;
      this.#state.evaluations.push({ step: this.#state.step, label, results });
      this.#state.isEvaluationDue = false;
      this.#spend("evaluation", seconds);
      for (const result of results)
        run.metrics.append({
          kind: "evaluation",
          step: this.#state.step,
          stage: label,
          ...evaluationRow(result),
          seconds: { evaluation: seconds },
        });
      onEvent({ kind: "evaluation", step: this.#state.step, label, results, seconds });
      if (label === "start" && !config.eval.may_fail) assertScored(results);
    } catch (error) {
      if (stop.aborted || !(drain.aborted && MrlmError.hasCode(error, "CANCELLED"))) throw error;
    }
  }

  /** The same episodes are played at each evaluation: the step and the environment's name make their ids unique. */
  #keepEvaluated(kind: string, trajectories: readonly Trajectory[]): void {
    const { step } = this.#state;
    const kept = trajectories.map((trajectory) => ({
      ...trajectory,
      id: `${step}/${trajectory.environment}/${trajectory.id}`,
    }));
    const [first] = kept;
    if (first !== undefined)
      this.#parts.evaluations?.add(step, kind, [{ id: first.group, task: first.task, trajectories: kept }]);
  }

  /** An algorithm that does not sample (SFT) has no reason to publish what it learnt; whoever samples next, or goes on from a scheduled checkpoint, has. */
  async #publish(): Promise<void> {
    if (!this.#state.isPublished) await this.#engine.publish(this.#policy.info.model);
  }

  async #checkpoint(): Promise<void> {
    const { run, store, evaluations, engine, prepared, onEvent } = this.#parts;
    const began = performance.now();
    for (const each of [store, evaluations]) each?.flush();
    run.metrics.flush();
    const { step, stage } = this.#state;
    const path = await run.checkpoints.write(
      { step, stage },
      prepared.config.checkpoint.keep,
      saveState(this.#state, prepared.config, identitiesOf(prepared)),
      {
        engine: (directory) => engine.save(directory),
        model: (directory) => this.#export(directory),
      },
    );
    const seconds = (performance.now() - began) / 1000;
    this.#spend("checkpoint", seconds);
    onEvent({ kind: "checkpoint", step, path, seconds });
  }

  /** The policy as a Hugging Face directory, an adapter merged into its weights. */
  async #export(directory: string): Promise<void> {
    const { engine, prepared } = this.#parts;
    await engine.export(
      this.#policy.info.model,
      directory,
      prepared.config.model.lora === undefined ? {} : { mergeAdapter: true },
    );
  }

  #spend(phase: string, seconds: number): void {
    this.#state.seconds[phase] = (this.#state.seconds[phase] ?? 0) + seconds;
  }

  #summary(status: RunSummary["status"]): RunSummary {
    const { run } = this.#parts;
    const { step, evaluations, seconds, trainingSeconds } = this.#state;
    return {
      status,
      directory: run.path,
      steps: step,
      evaluations,
      seconds,
      trainingSeconds,
      model: status === "finished" ? run.modelPath : undefined,
    };
  }
}

function identitiesOf({ environments, stages }: PreparedRun): Identities {
  return {
    environments: environments.map(({ ref }) => ref.id),
    algorithms: stages.map(({ definition }) => definition.id),
    dataFiles: environments.map(({ dataFiles = {} }) => dataFiles),
  };
}

/** What the engine is to use otherwise than it was saved; a budget that had to be lowered stays so unless the configuration has changed. */
function memoryOf(extension: Extension | undefined, { model }: ResolvedConfig): LoadOptions {
  const fields = extension?.memory.map(({ field }) => field) ?? [];
  return {
    ...(fields.includes("model.micro_batch_tokens") ? { microBatchTokens: model.micro_batch_tokens ?? 0 } : {}),
    ...(fields.includes("model.gradient_checkpointing")
      ? { gradientCheckpointing: model.gradient_checkpointing ?? false }
      : {}),
  };
}

/** Rows of metrics.jsonl that a continuation does not write again. */
function isKept({ kind, step }: MetricsRow, state: RunState): boolean {
  return (
    step < state.step || (step === state.step && state.step > 0 && !(kind === "evaluation" && state.isEvaluationDue))
  );
}
