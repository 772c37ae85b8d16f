import type { Trajectory } from "@mrlm/spec";
import type { SampleResult } from "@mrlm/spec/host";

/** Sums over the answers and episodes that this process plays, for displays of progress. They change while episodes are played. */
export class PlayTally {
  /** Sampled answers, and those among them that `max_tokens` cut. */
  answers = 0;
  cut = 0;
  tokens = 0;
  episodes = 0;
  /** Seconds for which episodes waited, summed over the episodes. */
  samplingSeconds = 0;
  environmentSeconds = 0;
  /** Answers that are being sampled. */
  underWay = 0;

  async sampling(work: Promise<SampleResult>): Promise<SampleResult> {
    this.underWay++;
    try {
      const result = await work;
      this.answers++;
      this.cut += Number(result.stopReason === "length");
      this.tokens += result.tokens.length;
      return result;
    } finally {
      this.underWay--;
    }
  }

  addEpisode({ seconds }: Trajectory): void {
    this.episodes++;
    this.samplingSeconds += seconds.sampling;
    this.environmentSeconds += seconds.environment;
  }

  /** Returns the sums as they are now. */
  copy(): PlayTally {
    return Object.assign(new PlayTally(), this);
  }

  /** Returns the sums since a copy was made. */
  since(before: PlayTally): PlayTally {
    const sums = new PlayTally();
    for (const [key, value] of Object.entries(before) as [NumberKey, number][]) sums[key] = this[key] - value;
    return sums;
  }
}

type NumberKey = Exclude<keyof PlayTally, "sampling" | "addEpisode" | "copy" | "since">;
