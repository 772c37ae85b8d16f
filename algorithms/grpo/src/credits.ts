import { defined } from "@mrlm/kit";
import type { Credit } from "@mrlm/kit/learning";
import { distilledAdvantage } from "./advantages.ts";
import type { GrpoSettings } from "./options.ts";
import type { GroupSample } from "./samples.ts";

/** Log-probabilities of each group's tokens under some models, where they were computed. */
export type GroupLogprobs<Model extends string> = Readonly<Record<Model, readonly (Float32Array | undefined)[]>>;

/**
 * Returns the credits of a batch, one for each episode.
 * @param given `trainer`: the weights before the first update
 */
export function creditsOf(
  groups: readonly GroupSample[],
  { trainer, reference }: GroupLogprobs<"trainer" | "reference">,
  options: GrpoSettings,
): Credit[] {
  return groups.flatMap(({ episodes }, i) => {
    let end = 0;
    return episodes.map(({ trajectory, agent, advantage: earned, sampled }) => {
      const start = end;
      end += sampled.length;
      const logprobs = trainer[i]?.slice(start, end);
      const old = options.old_policy === "sampler" ? sampled : (logprobs ?? sampled);
      const advantage = distilledAdvantage(earned, old, reference[i]?.subarray(start, end), options);
      return {
        trajectory,
        agent,
        advantage: typeof advantage === "number" ? advantage : Float32Array.from(advantage),
        ...defined({ logprobs }),
      };
    });
  });
}
