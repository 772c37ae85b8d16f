import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MetricsFile, type MetricsRow, RunDirectory } from "@mrlm/runtime";
import { EpisodeReader } from "@mrlm/store";

/** Result of a run, to the last bit, without its durations. Episodes are ordered by their ids: cohorts that are played at the same time are committed as they end. */
export interface Outcome {
  readonly weights: string;
  readonly metrics: readonly unknown[];
  readonly episodes: readonly unknown[];
}

export function outcomeOf(directory: string): Outcome {
  const store = new EpisodeReader(RunDirectory.open(directory).store);
  try {
    return {
      weights: weightsOf(directory),
      metrics: new MetricsFile(join(directory, "metrics.jsonl")).rows().map(withoutDurations),
      episodes: Array.from(store.read(), ({ step, stage, trajectory }) => ({
        step,
        stage,
        ...trajectory,
        seconds: undefined,
      })).toSorted((one, other) => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)),
    };
  } finally {
    store.close();
  }
}

function withoutDurations({ seconds: _, ...row }: MetricsRow): unknown {
  if (row.kind !== "iteration") return row;
  const metrics = Object.entries(row.metrics as Readonly<Record<string, unknown>>).filter(
    ([name]) => !name.startsWith("wait/"),
  );
  return { ...row, metrics: Object.fromEntries(metrics) };
}

/** Hash of the weights of a run's model, or of all of its models. */
function weightsOf(run: string): string {
  const models = join(run, "models");
  const directories = existsSync(models)
    ? readdirSync(models)
        .sort()
        .map((name) => join(models, name))
    : [join(run, "model")];
  const hash = createHash("sha256");
  for (const directory of directories) hash.update(readFileSync(join(directory, "model.safetensors")));
  return hash.digest("hex");
}
