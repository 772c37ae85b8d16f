import type { Credit } from "@mrlm/spec";
import type { GroupSample } from "./samples.ts";

/**
 * Returns the credits of a batch, one for each episode.
 * @param trainer log-probabilities of each group's tokens under the weights before the first update, where they were computed
 */
export function creditsOf(groups: readonly GroupSample[], trainer: readonly (Float32Array | undefined)[]): Credit[] {
  return groups.flatMap(({ episodes }, i) => {
    let end = 0;
    return episodes.map(({ trajectory, agent, advantage, sampled }) => {
      const start = end;
      end += sampled.length;
      const logprobs = trainer[i]?.slice(start, end);
      return { trajectory, agent, advantage, ...(logprobs === undefined ? {} : { logprobs }) };
    });
  });
}
