import type { PreparedRun } from "@mrlm/runtime";
import { count, grouped } from "./numbers.ts";

/** Formats what a run takes at most: steps, groups, episodes and sampled tokens of its stages, and its evaluations. */
export function describeRunPlan({ config, stages, environments, evaluation, descriptions }: PreparedRun): string {
  const limits = descriptions.map(({ maxTurns }, i) => turnLimit(maxTurns, config.environments[i]?.max_turns));
  const turns = widest(limits.slice(0, environments.length));
  const parts = stages.map(({ name, iterations, learners: [learner] }, i) => {
    const plan = learner?.plan;
    const steps = `${name} ${stages[i]?.goal === undefined ? "" : "at most "}${count(iterations, "step")}`;
    if (plan === undefined || learner === undefined) return steps;
    const { groups, groupSize, every = 1, refills = 0 } = plan;
    const batches = every === 0 ? 1 : Math.ceil(iterations / every);
    const episodes = batches * groups * groupSize;
    const more = refills > 0 ? `, up to ${refills + 1} times as many with refills` : "";
    return `${steps} of ${count(groups, "group")} x ${count(groupSize, "episode")} = ${episodesPlan(episodes, turns, learner.sampling.maxTokens)}${more}`;
  });
  const { every, samples } = config.eval;
  const times = stages.reduce((sum, { iterations }) => sum + (every > 0 ? Math.ceil(iterations / every) : 1), 1);
  const { temperature, max_tokens: maxTokens } = config.sampling;
  const episodes = evaluation.reduce((sum, { tasks }) => sum + tasks.length, 0) * (1 + (temperature > 0 ? samples : 0));
  const evalTurns = widest(
    evaluation.map(({ maxTurns }, i) => turnLimit(descriptions[environments.length + i]?.maxTurns ?? 0, maxTurns)),
  );
  const evaluations =
    episodes === 0 ? [] : [`${count(times, "evaluation")} of ${episodesPlan(episodes, evalTurns, maxTokens)}`];
  return [...parts, ...evaluations].join("; ");
}

/** Formats a number of episodes with the sampled tokens of all of them at most, or of a turn where turns have no limit. */
export function episodesPlan(episodes: number, turns: number, maxTokens: number): string {
  const tokens =
    turns === 0
      ? `${maxTokens} tokens a turn`
      : `${grouped(episodes * turns * maxTokens)} tokens: ${maxTokens} ${turns === 1 ? "an answer" : `in each of ${turns} turns`}`;
  return `${grouped(episodes)} episode${episodes === 1 ? "" : "s"} (at most ${tokens})`;
}

/** Returns the limit of turns of an environment and of the configuration; 0: none. */
export function turnLimit(...limits: readonly (number | undefined)[]): number {
  const known = limits.filter((limit): limit is number => limit !== undefined && limit > 0);
  return known.length === 0 ? 0 : Math.min(...known);
}

/** Returns the largest limit; 0 if one has none. */
function widest(limits: readonly number[]): number {
  return limits.includes(0) ? 0 : Math.max(0, ...limits);
}
