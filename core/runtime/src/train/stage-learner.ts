import { type AlgorithmRun, type IterationReport, MrlmError } from "@mrlm/spec";
import type { ResolvedConfig } from "../config/resolved-config.ts";
import { Learner, learnerId, type TimedBatch } from "../play/learner.ts";
import type { PreparedStage } from "../prepare/prepare-run.ts";
import { RandomStreams } from "./random-streams.ts";
import { publishPolicy, type RunContext } from "./run-context.ts";
import type { RunState } from "../resume/run-state.ts";
import { rolloutSampling } from "../prepare/rollout-sampling.ts";
import { stageContext, stageSeed } from "./stage-context.ts";

/** Report of an iteration, with the batch that it took, if any. */
export interface LearntIteration {
  readonly report: IterationReport;
  readonly batch: TimedBatch | undefined;
  /** Wall-clock seconds. */
  readonly seconds: number;
}

/** The algorithm that trains a policy in one stage, with its batches of episodes and its random streams. */
export class StageLearner {
  readonly #id: string;
  readonly #algorithm: AlgorithmRun;
  readonly #reports: AsyncIterator<IterationReport>;
  readonly #episodes: Learner;
  readonly #streams: RandomStreams;

  private constructor(id: string, algorithm: AlgorithmRun, episodes: Learner, streams: RandomStreams) {
    this.#id = id;
    this.#algorithm = algorithm;
    this.#reports = algorithm.run()[Symbol.asyncIterator]();
    this.#episodes = episodes;
    this.#streams = streams;
  }

  /** Creates the learner of the current stage. Restores its state where the stage had begun before. */
  static async start(context: RunContext, stage: PreparedStage): Promise<StageLearner> {
    const { prepared, state, engine, policy, logger, stop } = context;
    const id = learnerId({ stage: state.stage, policy: policy.info.model });
    const streams = new RandomStreams(stageSeed(prepared.config.seed, state.stage), state.random);
    const episodes = learnerOf(context, stage, id);
    const algorithm = await stage.definition.create(
      stageContext({
        index: state.stage,
        config: prepared.config,
        engine,
        policy: policy.info,
        restored: policy.restored,
        renderer: policy.renderer,
        episodes,
        environments: prepared.environments,
        streams,
        onData: (path, sha256) => recordData(context, path, sha256),
        logger,
        signal: stop,
      }),
      stage.options,
    );
    if (state.algorithm !== null) algorithm.restore(state.algorithm);
    return new StageLearner(id, algorithm, episodes, streams);
  }

  /** Runs the next iteration and stores its credits; `undefined` after the last one. */
  async next(): Promise<LearntIteration | undefined> {
    const began = performance.now();
    const next = await this.#reports.next();
    if (next.done === true) return undefined;
    const seconds = (performance.now() - began) / 1000;
    await this.#episodes.settle(next.value.credits ?? []);
    return { report: next.value, batch: this.#episodes.lap(), seconds };
  }

  /** Ends the algorithm before its last iteration. */
  async stop(): Promise<void> {
    await this.#reports.return?.();
  }

  /** Marks the last batch as applied: nothing more is learnt from it. */
  end(): Promise<void> {
    return this.#episodes.end();
  }

  /** Returns the state to resume from. */
  state(): Pick<RunState, "random" | "learners"> & { readonly algorithm: NonNullable<RunState["algorithm"]> } {
    return {
      algorithm: this.#algorithm.state(),
      random: this.#streams.state(),
      learners: { [this.#id]: this.#episodes.state() },
    };
  }
}

function learnerOf(context: RunContext, { name, definition, plan }: PreparedStage, id: string): Learner {
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
    state.learners[id],
  );
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
