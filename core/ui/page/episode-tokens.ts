import type { EpisodeDetail } from "./shapes.ts";

/** Tokens of one segment, with what is known of each. */
export interface TokenTable {
  readonly agent: string;
  readonly segment: number;
  readonly parent: number | null;
  readonly tokens: Int32Array;
  readonly logprobs: Float32Array;
  readonly versions: Int32Array;
  /** NaN where no learner has used the token. */
  readonly advantages: Float32Array;
  /** Log-probabilities under the trainer's weights; NaN where they were not computed. */
  readonly trainer: Float32Array;
  readonly mask: Uint8Array;
}

/** Reads the answer of `/api/runs/ID/episodes/EPISODE/tokens`. Its numbers are little-endian, as those of the machines that run browsers. */
export function tokenTables(bytes: ArrayBuffer, { episode }: EpisodeDetail): TokenTable[] {
  let at = 0;
  const next = (size: number): number => {
    const start = at;
    at += size;
    return start;
  };
  return Object.entries(episode.agents).flatMap(([agent, { segments }]) =>
    segments.map(({ length, parent }, segment): TokenTable => ({
      agent,
      segment,
      parent,
      tokens: new Int32Array(bytes, next(4 * length), length),
      logprobs: new Float32Array(bytes, next(4 * length), length),
      versions: new Int32Array(bytes, next(4 * length), length),
      advantages: new Float32Array(bytes, next(4 * length), length),
      trainer: new Float32Array(bytes, next(4 * length), length),
      mask: new Uint8Array(bytes, next(4 * Math.ceil(length / 4)), length),
    })),
  );
}
