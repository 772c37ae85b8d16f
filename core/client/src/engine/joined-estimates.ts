import type { MemoryEstimate } from "@mrlm/spec/host";

/** Estimate of the engines that share one device. */
export interface DeviceEstimate {
  readonly engine: string;
  readonly estimate: MemoryEstimate;
}

/** Returns the estimate of the device with the smallest token budget, with those of the others. */
export function joinEstimates(devices: readonly DeviceEstimate[]): MemoryEstimate {
  const named = devices.map(({ engine, estimate }) => ({ ...estimate, engine }));
  const [tightest, ...others] = named.toSorted((one, other) => allowance(one) - allowance(other));
  return { ...(tightest as MemoryEstimate), ...(others.length === 0 ? {} : { others }) };
}

/** A budget that need not be lowered binds nothing. */
function allowance({ microBatchTokens, wantedTokens }: MemoryEstimate): number {
  return microBatchTokens < wantedTokens ? microBatchTokens : Number.MAX_SAFE_INTEGER;
}
