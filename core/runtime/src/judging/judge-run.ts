import { isDeepStrictEqual } from "node:util";
import { judgementsOf } from "@mrlm/kit/learning";
import { type AgentId, isErrorCode, MrlmError, type Reward, type Trajectory, type Unscored } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentRef, JudgementRecord } from "@mrlm/spec/host";
import { bareName } from "../names/versioned.ts";
import { totalReward } from "../rollouts/episode-record.ts";
import type { TwiceJudged } from "./agreement.ts";

/** Stored episode with its second judgement. */
export interface JudgedEpisode extends TwiceJudged {
  readonly trajectory: Trajectory;
  readonly again: JudgedAgain;
}

/** Outcome of one stored episode. */
export type JudgedOutcome =
  | { readonly kind: "judged"; readonly episode: JudgedEpisode }
  /** The stored episode failed, so that it has no rewards. */
  | { readonly kind: "failed"; readonly trajectory: Trajectory }
  /** A limit of the run ended it before a judge was asked. */
  | { readonly kind: "unjudged"; readonly trajectory: Trajectory }
  | { readonly kind: "lost"; readonly trajectory: Trajectory; readonly error: MrlmError };

/** Episodes at a time: a judge that asks a model waits most of the time. */
export const AT_ONCE = 16;

/** Judges stored episodes again, and yields them in their order. Rejects only if the signal is aborted. */
export function judgeRun(
  host: EnvironmentHost,
  environments: readonly EnvironmentRef[],
  trajectories: readonly Trajectory[],
  signal: AbortSignal,
): AsyncGenerator<JudgedOutcome> {
  return repeated({ host, environments, signal, needsJudge: true }, trajectories);
}

/**
 * Scores stored episodes again by their environments, as `judgeRun` judges them. One of an environment that promises no determinism is lost, and one that had a score
 * and gets none now.
 */
export function scoreRun(
  host: EnvironmentHost,
  environments: readonly EnvironmentRef[],
  trajectories: readonly Trajectory[],
  signal: AbortSignal,
): AsyncGenerator<JudgedOutcome> {
  return repeated({ host, environments, signal, needsJudge: false }, trajectories);
}

/** Parts with which episodes are repeated. */
export interface Repetition {
  readonly host: EnvironmentHost;
  readonly environments: readonly EnvironmentRef[];
  readonly signal: AbortSignal;
  /** Whether an episode without judgements is left out, and others need no determinism: the judge is what differs. */
  readonly needsJudge: boolean;
}

async function* repeated(repetition: Repetition, trajectories: readonly Trajectory[]): AsyncGenerator<JudgedOutcome> {
  const { signal } = repetition;
  const pending: Promise<JudgedOutcome>[] = [];
  let next = 0;
  try {
    while (pending.length > 0 || next < trajectories.length) {
      while (pending.length < AT_ONCE && next < trajectories.length)
        pending.push(repeatEpisode(repetition, trajectories[next++] as Trajectory));
      yield (await pending.shift()) as JudgedOutcome;
      signal.throwIfAborted();
    }
  } finally {
    await Promise.allSettled(pending);
  }
}

/** Repeats the actions of an episode in its environment. Never rejects. */
export async function repeatEpisode(repetition: Repetition, trajectory: Trajectory): Promise<JudgedOutcome> {
  if (trajectory.error !== undefined) return { kind: "failed", trajectory };
  try {
    const again = await firstThatFits(repetition, trajectory);
    if (repetition.needsJudge && again.judgements.length === 0) return { kind: "unjudged", trajectory };
    const before = Object.fromEntries(
      Object.entries(trajectory.agents).map(([agent, { total }]): [string, Reward] => [agent, total]),
    );
    const unscored = Object.entries(again.totals).find(([agent, total]) => !total.scored && before[agent]?.scored);
    if (!repetition.needsJudge && unscored !== undefined) throw notScored(...(unscored as [AgentId, Unscored]));
    const verdictBefore = judgementsOf(trajectory).at(-1)?.verdict;
    const verdictAfter = again.judgements.at(-1)?.verdict;
    return { kind: "judged", episode: { trajectory, again, before, after: again.totals, verdictBefore, verdictAfter } };
  } catch (error) {
    const lost = MrlmError.isInstance(error) ? error : new MrlmError("INTERNAL", String(error), { cause: error });
    return { kind: "lost", trajectory, error: lost };
  }
}

/** Returns the error of an agent whose stored score cannot be computed again: it earns no other reward. */
function notScored(agent: AgentId, { code, message }: Unscored): MrlmError {
  return new MrlmError(
    isErrorCode(code) ? code : "ENVIRONMENT_FAILED",
    `Agent "${agent}" had a score and has none now: ${message}`,
  );
}

/** Repeats an episode under the first options of its environment that give its observations. */
async function firstThatFits(
  { host, environments, signal, needsJudge }: Repetition,
  trajectory: Trajectory,
): Promise<JudgedAgain> {
  // The second environment of one id in an evaluation is `math@2#2`.
  const played = trajectory.environment.replace(/#\d+$/, "");
  let failure: unknown = new MrlmError(
    "ENVIRONMENT_NOT_FOUND",
    `Environment ${played} of episode ${trajectory.id} is not in the configuration of the run.`,
  );
  // Another environment may be gone, which does not matter here.
  for (const environment of environments.filter(({ id }) => bareName(id) === bareName(played))) {
    try {
      const { id, determinism } = await host.describe(environment);
      if (id !== played) continue;
      if (determinism === "none" && !needsJudge)
        throw new MrlmError("USAGE", `Environment ${id} promises no determinism: its episodes cannot be repeated.`, {
          hint: "Score their answers instead: mrlm score --scorer ID --run RUN --query SQL.",
        });
      return await judgeAgain(host, environment, trajectory, signal);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Result of a repeated episode. */
interface JudgedAgain {
  /** Total reward of each agent that the episode has. */
  readonly totals: Readonly<Record<AgentId, Reward>>;
  readonly judgements: readonly JudgementRecord[];
}

/**
 * Repeats the actions of a stored episode in its environment, without a model, so that the environment builds its requests to judges and scorers itself, and its rewards from the
 * answers. Rejects with ENVIRONMENT_FAILED if an observation differs from the stored one.
 */
async function judgeAgain(
  host: EnvironmentHost,
  environment: EnvironmentRef,
  { id, task, seed, turns, agents }: Trajectory,
  signal: AbortSignal,
): Promise<JudgedAgain> {
  const session = await host.open(environment);
  try {
    const rewards = new Map<AgentId, Reward[]>(Object.keys(agents).map((agent) => [agent, []]));
    const judgements: JudgementRecord[] = [];
    let observation = await session.reset({ task, ...(seed === null ? {} : { seed }), signal });
    for (const [step, turn] of turns.entries()) {
      const { agent, messages, response, stopReason } = turn;
      if (observation.agent !== agent || !isDeepStrictEqual(observation.messages, messages))
        throw new MrlmError(
          "ENVIRONMENT_FAILED",
          `Environment ${session.description.id} does not give the observations of episode ${id} again, from step ${step} on.`,
          { hint: "Its options, its data or its version differ from those of the run, or it is not deterministic." },
        );
      const finishReason = stopReason === "length" || stopReason === "exhausted" ? stopReason : "stop";
      const result = await session.step({ agent, message: response, finishReason }, { signal });
      for (const [earner, reward] of Object.entries(result.rewards))
        rewards.set(earner, [...(rewards.get(earner) ?? []), reward]);
      judgements.push(...judgementsOf(result));
      ({ observation } = result);
    }
    return { totals: Object.fromEntries([...rewards].map(([agent, each]) => [agent, totalReward(each)])), judgements };
  } finally {
    await session.close();
  }
}
