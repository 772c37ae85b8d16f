/** Cost of a step. */
export interface Measurement {
  readonly cpu_s_per_step: number;
  readonly wall_s_per_step: number;
  readonly cpu_s: readonly number[];
  readonly wall_s: readonly number[];
  /** Sum of the peaks of the resident memory of the processes. */
  readonly memory_mib: number;
  /** Ours only: 1 - engine compute / wall time, over the measured steps. */
  readonly wire_share?: number;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Rounds of the same measurement as one: medians over all their steps. */
export function pooled(rounds: readonly Measurement[]): Measurement {
  const cpu = rounds.flatMap((round) => round.cpu_s);
  const wall = rounds.flatMap((round) => round.wall_s);
  const shares = rounds.flatMap((round) => round.wire_share ?? []);
  return {
    cpu_s_per_step: median(cpu),
    wall_s_per_step: median(wall),
    cpu_s: cpu,
    wall_s: wall,
    memory_mib: median(rounds.map((round) => round.memory_mib)),
    ...(shares.length === 0 ? {} : { wire_share: median(shares) }),
  };
}
