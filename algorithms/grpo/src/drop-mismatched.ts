import { type MismatchOptions, mismatchWeight } from "@mrlm/kit/learning";
import type { EpisodeSample, GroupSample } from "./samples.ts";
import type { FrozenLogprobs } from "./unit-loss.ts";

/** A group without the tokens on which trainer and sampler disagree. */
export interface Trimmed {
  readonly group: GroupSample;
  readonly frozen: FrozenLogprobs;
  /** Log-probabilities of the tokens that were left out. */
  readonly dropped: readonly { readonly trainer: number; readonly sampler: number }[];
}

/**
 * Removes tokens whose importance weight is outside [floor, cap] from the masks, as if they had not been sampled (`mismatch: drop`). Also removes rows and
 * episodes in which no token remains. The engine still reads removed tokens as context.
 *
 * @param frozen includes the trainer's old log-probabilities
 */
export function dropMismatched(
  group: GroupSample,
  frozen: FrozenLogprobs & { readonly old: Float32Array },
  { mismatch_cap: cap, mismatch_floor: floor }: Pick<MismatchOptions, "mismatch_cap" | "mismatch_floor">,
): Trimmed {
  const dropped: { trainer: number; sampler: number }[] = [];
  const kept: number[] = [];
  let position = 0;
  const episodes = group.episodes.flatMap((episode): EpisodeSample[] => {
    const sampled: number[] = [];
    const advantages: number[] = [];
    let own = 0;
    const rows = episode.rows.flatMap(({ tokens, mask }) => {
      const left = mask.map((chosen) => {
        if (chosen === 0) return 0;
        const [trainer, sampler] = [frozen.old[position] as number, episode.sampled[own] as number];
        const isKept = mismatchWeight("drop", cap, trainer, sampler, floor) > 0;
        if (isKept) {
          kept.push(position);
          sampled.push(sampler);
          if (typeof episode.advantage !== "number") advantages.push(episode.advantage[own] as number);
        } else dropped.push({ trainer, sampler });
        position++;
        own++;
        return Number(isKept);
      });
      return left.includes(1) ? [{ tokens, mask: left }] : [];
    });
    const advantage = typeof episode.advantage === "number" ? episode.advantage : Float64Array.from(advantages);
    return rows.length === 0 ? [] : [{ ...episode, rows, sampled: Float32Array.from(sampled), advantage }];
  });
  const pick = (values: Float32Array): Float32Array => Float32Array.from(kept, (at) => values[at] as number);
  return {
    group: { episodes },
    frozen: { old: pick(frozen.old), ...(frozen.reference === undefined ? {} : { reference: pick(frozen.reference) }) },
    dropped,
  };
}
