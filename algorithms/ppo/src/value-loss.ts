import type { UnitGradients } from "@mrlm/kit/learning";
import type { Estimate } from "./estimate.ts";
import type { PpoMetrics } from "./metrics.ts";
import type { PpoOptions } from "./options.ts";

/**
 * Computes the loss of one value and its derivative with respect to the value (arXiv 1707.06347, clipping as in its reference implementation):
 *
 *     ½ (V - R)²;     with a clip c: ½ max((V - R)², (clip(V, V_old - c, V_old + c) - R)²)
 */
export function valueLoss(
  value: number,
  old: number,
  target: number,
  clip: number | undefined,
): { loss: number; slope: number; isHeld: boolean } {
  const free = value - target;
  const held = clip === undefined ? free : Math.max(old - clip, Math.min(old + clip, value)) - target;
  if (free * free >= held * held) return { loss: (free * free) / 2, slope: free, isHeld: false };
  return { loss: (held * held) / 2, slope: 0, isHeld: true };
}

/** Computes the gradient of one unit's part of the critic loss: `value_coefficient` times the sum of the value losses of its tokens. */
export function valueGradients(
  estimates: readonly Estimate[],
  values: Float32Array,
  options: PpoOptions,
  metrics: PpoMetrics,
): UnitGradients {
  const gradient = new Float32Array(values.length);
  let position = 0;
  for (const { values: old, targets } of estimates) {
    for (const [t, target] of targets.entries()) {
      const { loss, slope, isHeld } = valueLoss(
        values[position] as number,
        old[t] as number,
        target,
        options.value_clip,
      );
      metrics.addValue(loss, isHeld);
      gradient[position++] = valueCoefficient(options) * slope;
    }
  }
  return { value: gradient };
}

/** Returns the factor of the value loss. Default: 1 for a separate critic, ½ on a shared backbone. */
function valueCoefficient({ value_coefficient: coefficient, critic }: PpoOptions): number {
  return coefficient ?? (critic === "shared" ? 0.5 : 1);
}
