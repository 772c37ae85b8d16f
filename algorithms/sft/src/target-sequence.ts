import type { SupervisedSequence } from "@mrlm/spec";

/** A sequence with the tokens that are learnt. */
export interface TargetSequence {
  readonly tokens: Int32Array;
  /** 1 on the tokens that are learnt. */
  readonly mask: Uint8Array;
  /** Weight in the loss of each of them. */
  readonly weights: Float32Array;
  /** 1 for each of them that the environment said. */
  readonly observed: Uint8Array;
}

/**
 * What a sequence teaches. Actions are the tokens that the policy is to say; observations those that follow its first turn and are no action: what the
 * environment answered, with the template's marks around it. The first prompt answers nothing and is never learnt.
 */
export function targetSequence(
  { tokens, mask: said }: SupervisedSequence,
  actionWeight: number,
  observationWeight: number,
): TargetSequence {
  const first = said.indexOf(1);
  const weightAt = (t: number): number =>
    said[t] === 1 ? actionWeight : first >= 0 && t > first ? observationWeight : 0;
  const mask = said.map((_, t) => Number(weightAt(t) > 0));
  const learnt = Array.from(mask.keys()).filter((t) => mask[t] === 1);
  return {
    tokens,
    mask,
    weights: Float32Array.from(learnt, weightAt),
    observed: Uint8Array.from(learnt, (t) => 1 - (said[t] as number)),
  };
}
