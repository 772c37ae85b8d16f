import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MetricsFile } from "@mrlm/runtime";
import { EpisodeReader } from "@mrlm/store";

/** Result of a run, to the last bit, without its durations. */
export interface Outcome {
  readonly weights: string;
  readonly metrics: readonly unknown[];
  readonly episodes: readonly unknown[];
}

export function outcomeOf(directory: string): Outcome {
  const store = new EpisodeReader(join(directory, "episodes.sqlite"));
  try {
    return {
      weights: createHash("sha256")
        .update(readFileSync(join(directory, "model", "model.safetensors")))
        .digest("hex"),
      metrics: new MetricsFile(join(directory, "metrics.jsonl")).rows().map(({ seconds: _, ...row }) => row),
      episodes: Array.from(store.read(), ({ step, stage, trajectory }) => ({
        step,
        stage,
        ...trajectory,
        seconds: undefined,
      })),
    };
  } finally {
    store.close();
  }
}
