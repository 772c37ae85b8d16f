import type { Segment } from "@mrlm/spec";
import type { StoredCredit } from "@mrlm/store";

/** Spreads the values of learnt tokens over the segments; NaN for all others. */
export function sampledValues(
  segments: readonly Segment[],
  credits: readonly StoredCredit[],
  name: "advantage" | "logprobs",
): Float32Array[] {
  const spread = segments.map(({ tokens }) => new Float32Array(tokens.length).fill(Number.NaN));
  const sampled = segments.reduce((sum, { mask }) => sum + mask.reduce((count, each) => count + each, 0), 0);
  for (const credit of credits) {
    const values = credit[name];
    if (values === undefined || (typeof values !== "number" && values.length !== sampled)) continue;
    let next = 0;
    segments.forEach(({ mask }, i) => {
      const target = spread[i] as Float32Array;
      mask.forEach((isSampled, at) => {
        if (isSampled === 1) target[at] = typeof values === "number" ? values : (values[next++] as number);
      });
    });
  }
  return spread;
}
