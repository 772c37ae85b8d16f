import type { SupervisedSequence } from "@mrlm/kit/learning";

/** A sequence with its target tokens. */
export interface TargetSequence {
  readonly tokens: Int32Array;
  /** 1 at each target. */
  readonly mask: Uint8Array;
  /** Weight of each target in the loss. */
  readonly weights: Float32Array;
  /** 1 for each target that is an observation. */
  readonly observed: Uint8Array;
}

/**
 * Selects the targets of a sequence. Actions are the tokens of assistant messages. Observations are all other tokens after the first action: answers of the
 * environment, and tokens of the template. Tokens before the first action are no targets.
 */
export function targetSequence(
  { tokens, mask: actions }: SupervisedSequence,
  actionWeight: number,
  observationWeight: number,
): TargetSequence {
  const first = actions.indexOf(1);
  const weightAt = (t: number): number =>
    actions[t] === 1 ? actionWeight : first >= 0 && t > first ? observationWeight : 0;
  const mask = actions.map((_, t) => Number(weightAt(t) > 0));
  const targets = Array.from(mask.keys()).filter((t) => mask[t] === 1);
  return {
    tokens,
    mask,
    weights: Float32Array.from(targets, weightAt),
    observed: Uint8Array.from(targets, (t) => 1 - (actions[t] as number)),
  };
}
