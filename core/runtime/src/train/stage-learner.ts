import {
  type AlgorithmRun,
  defined,
  type IterationReport,
  type JsonObject,
  MrlmError,
  type PolicyId,
  type TrajectoryGroup,
} from "@mrlm/spec";
import { traced } from "@mrlm/kit/service";
import type { ResolvedStage } from "../config/resolve-config.ts";
import { tokenizerOwner } from "../models/loaded-policies.ts";
import { Reference } from "../models/reference-model.ts";
import { learnerId, StagePlay, type StagePlayParts, type TimedBatch } from "../play/stage-play.ts";
import type { PreparedLearner, PreparedStage } from "../prepare/prepare-stage.ts";
import { stageSampling } from "../prepare/rollout-sampling.ts";
import type { CheckpointState } from "../resume/checkpoint-state.ts";
import { RandomStreams } from "./random-streams.ts";
import { publishPolicies, type RunContext } from "./run-context.ts";
import { stageContext, stageSeed } from "./stage-context.ts";

/** Report of an iteration, with the batch that it took, if any. */
export interface LearntIteration {
  readonly report: IterationReport;
  readonly batch: TimedBatch | undefined;
  /** Wall-clock seconds. */
  readonly seconds: number;
}

/** Algorithm that trains one policy, with its random streams. */
interface Member {
  readonly policy: PolicyId;
  readonly algorithm: AlgorithmRun;
  readonly reference: Reference;
  readonly reports: AsyncIterator<IterationReport>;
  readonly streams: RandomStreams;
}

/** The algorithms that train policies in one stage, with the play that they learn from. */
export class StageLearner {
  readonly #id: string;
  readonly #members: readonly Member[];
  readonly #episodes: StagePlay;

  private constructor(id: string, members: readonly Member[], episodes: StagePlay) {
    this.#id = id;
    this.#members = members;
    this.#episodes = episodes;
  }

  /** Creates the learners of the current stage. Restores their state where the stage had begun before. */
  static async start(context: RunContext, stage: PreparedStage): Promise<StageLearner> {
    const parts = playParts(context, stage);
    const id = learnerId(parts);
    const episodes = new StagePlay(parts, context.state.learners[id]);
    const members: Member[] = [];
    for (const learner of stage.learners) members.push(await startMember(context, learner, episodes));
    return new StageLearner(id, members, episodes);
  }

  /** Runs the next iteration of each algorithm in turn and stores its credits; `undefined` after the last one. */
  next(): Promise<LearntIteration | undefined> {
    return traced(
      "iteration",
      () => ({ "mrlm.stage": this.#id }),
      async (span) => {
        const learnt = await this.#next();
        if (learnt !== undefined) span?.setAttribute("mrlm.iteration", learnt.report.iteration);
        return learnt;
      },
    );
  }

  async #next(): Promise<LearntIteration | undefined> {
    const began = performance.now();
    const reports: [PolicyId, IterationReport][] = [];
    for (const { policy, reference, reports: of } of this.#members) {
      const next = await of.next();
      if (next.done === true) continue;
      reports.push([policy, next.value]);
      await reference.follow(next.value.iteration);
      await this.#episodes.settle(policy, next.value.credits ?? []);
    }
    if (reports.length === 0) return undefined;
    const seconds = (performance.now() - began) / 1000;
    return { report: mergeReports(reports), batch: this.#episodes.lap(), seconds };
  }

  /** Waits until everything that is played ahead is in the store. */
  settled(): Promise<void> {
    return this.#episodes.settled();
  }

  /** Stops the play. */
  close(): Promise<void> {
    return this.#episodes.close();
  }

  /** Ends the algorithms before their last iteration. */
  async stop(): Promise<void> {
    for (const { reports } of this.#members) await reports.return?.();
  }

  /** Marks the last batch as applied: nothing more is learnt from it. */
  end(): Promise<void> {
    return this.#episodes.end();
  }

  /** Returns the state to resume from. */
  state(): Pick<CheckpointState, "random" | "learners"> & {
    readonly algorithms: NonNullable<CheckpointState["algorithms"]>;
  } {
    const byPolicy = (of: (member: Member) => JsonObject): Record<PolicyId, JsonObject> =>
      Object.fromEntries(this.#members.map((member) => [member.policy, of(member)]));
    return {
      algorithms: byPolicy(({ algorithm }) => algorithm.state()),
      random: byPolicy(({ streams }) => streams.state()),
      learners: { [this.#id]: this.#episodes.state() },
    };
  }
}

async function startMember(
  context: RunContext,
  { policy, definition, options, sampling }: PreparedLearner,
  episodes: StagePlay,
): Promise<Member> {
  const { prepared, run, state, engine, policies, restored, logger, stop } = context;
  const { config, environments } = prepared;
  const { info, renderer } = policies.get(policy) as NonNullable<ReturnType<typeof policies.get>>;
  const streams = new RandomStreams(stageSeed(config.seed, state.stage), state.random[policy]);
  const reference = new Reference({
    engine,
    config,
    index: state.stage,
    policy,
    restored,
    tokenizer: () => run.readTokenizer(tokenizerOwner(prepared, policy)),
  });
  const algorithm = await definition.create(
    stageContext({
      index: state.stage,
      config,
      engine,
      policy: info,
      reference,
      renderer: context.rendering.of(renderer),
      episodes: episodes.source(policy),
      sampling,
      environments,
      streams,
      onData: (path, sha256) => recordData(context, path, sha256),
      logger,
      signal: stop,
    }),
    options,
  );
  const before = state.algorithms?.[policy];
  if (before !== undefined) algorithm.restore(before);
  return { policy, algorithm, reference, streams, reports: algorithm.run()[Symbol.asyncIterator]() };
}

function playParts(context: RunContext, { name, learners, iterations }: PreparedStage): StagePlayParts {
  const { prepared, state, rollouts, samplers, watch, episodes, stop } = context;
  const { seed, stages, play, sampling } = prepared.config;
  const stage = stages[state.stage] as ResolvedStage;
  const [{ policy, plan }] = learners as [PreparedLearner];
  const names = new Set(learners.map((each) => each.plan?.name));
  return {
    algorithms: Object.fromEntries(learners.map((each) => [each.policy, each.definition.id])),
    // Learners whose plans have one name share its streams; otherwise the play has the name of the first.
    plan: plan === undefined || names.size === 1 ? plan : { ...plan, name: `${policy}:${plan.name}` },
    stage: state.stage,
    stageName: name,
    ...stageSampling(prepared.config, stage),
    environments: prepared.environments,
    seed: stageSeed(seed, state.stage),
    ...defined({ curriculum: stage.curriculum }),
    iterations,
    mode: play,
    // In turn the engine samples too; beside learning it has no time for it.
    parallel: () => Math.max(1, samplers() + (play.mode === "sync" ? 1 : 0)),
    cohorts: play.cohorts,
    concurrency: sampling.concurrency,
    rollouts,
    store: episodes,
    progress: () => ({ iteration: state.iteration + 1, runStep: state.step + 1 }),
    publish: () => publishPolicies(context),
    ...defined({ onTaken: watch && ((played: readonly TrajectoryGroup[]) => watch.begin(played)) }),
    signal: stop,
  };
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

/** Returns one report for an iteration of several learners. Metrics and notices begin with the name of the policy; seconds are added. One report stays as it is. */
function mergeReports(reports: readonly (readonly [PolicyId, IterationReport])[]): IterationReport {
  const [[, first], ...others] = reports as [readonly [PolicyId, IterationReport]];
  if (others.length === 0) return first;
  const seconds: Record<string, number> = {};
  for (const [, report] of reports)
    for (const [phase, spent] of Object.entries(report.seconds)) seconds[phase] = (seconds[phase] ?? 0) + spent;
  return {
    iteration: first.iteration,
    metrics: Object.fromEntries(
      reports.flatMap(([policy, { metrics }]) =>
        Object.entries(metrics).map(([name, value]) => [`${policy}/${name}`, value]),
      ),
    ),
    seconds,
    credits: reports.flatMap(([, { credits = [] }]) => credits),
    notices: reports.flatMap(([policy, { notices = [] }]) => notices.map((text) => `${policy}: ${text}`)),
  };
}
