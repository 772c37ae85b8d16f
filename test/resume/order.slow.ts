import { expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import type { JsonObject, TrajectoryGroup } from "@mrlm/spec";
import type { Engine, EpisodeStore } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import { BigramEngine, trainBigram } from "@mrlm/testing";
import { parse, stringify } from "yaml";

const algorithms = [grpo, dpo];
const stageOf = (algorithm: string, steps: number): JsonObject =>
  algorithm === "grpo"
    ? {
        algorithm,
        steps,
        prompts_per_step: 3,
        group_size: 4,
        dynamic_sampling: 2,
        scale: "batch_std",
        learning_rate: 0.3,
      }
    : {
        algorithm,
        steps,
        prompts: 4,
        group_size: 4,
        pairs_per_group: 1,
        batch_size: 2,
        collect_every: 2,
        learning_rate: 0.1,
      };

/** Records the names of some methods when they are called. A commit that takes the batch of its group counts as `take`. */
function recorded<T extends object>(target: T, names: readonly (keyof T)[], calls: unknown[]): T {
  return new Proxy(target, {
    get(inner, name) {
      const member = inner[name as keyof T];
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const takes = name === "commit" && (args[2] as { readonly take?: unknown }).take !== undefined;
        if (takes) calls.push("take");
        else if (names.includes(name as keyof T)) calls.push(name);
        return (member as unknown as (...given: unknown[]) => unknown).apply(inner, args);
      };
    },
  });
}

test("a batch is logged before it is learnt from; credits are stored and the store is flushed before a checkpoint", async () => {
  const calls: string[] = [];
  await trainBigram({
    algorithms,
    stages: [stageOf("dpo", 3)],
    engine: recorded<Engine>(new BigramEngine(), ["forwardBackward", "save"], calls),
    openStore: async (settings) =>
      recorded<EpisodeStore>(await openLocalStore(settings), ["take", "settle", "flush"], calls),
  });
  const iteration = ["forwardBackward", "settle", "flush", "save"];
  const played = ["take", "take", ...iteration];
  // The last batch is applied at the end of the stage, before its checkpoint. A last evaluation may follow it.
  const end = ["forwardBackward", "settle", "settle", "flush", "save", "flush"];
  expect(calls).toEqual([...played, ...iteration, "take", "take", ...end]);
});

test.each([
  ["grpo", 3, 5],
  ["dpo", 3, 6],
])(
  "%s: a finished run of %i iterations that is made %i long has the weights and batches of one that was",
  async (name, short, long) => {
    const whole = await trainBigram({ algorithms, stages: [stageOf(name, long)] });
    const { summary } = await trainBigram({ algorithms, stages: [stageOf(name, short)] });
    const path = join(summary.directory, "config.yaml");
    const config = parse(readFileSync(path, "utf8")) as { stages: { options: { steps: number } }[] };
    for (const { options } of config.stages) options.steps = long;
    writeFileSync(path, stringify(config));
    const longer = await trainBigram({ algorithms, stages: [], resume: summary.directory });
    expect(longer.weights).toEqual(whole.weights);
    expect(longer.played.map(contentOf)).toEqual(whole.played.slice(short).map(contentOf));
  },
);

/** Returns what was played, without its durations. */
function contentOf(groups: readonly TrajectoryGroup[]): unknown {
  return groups.map(({ id, trajectories }) => [id, trajectories.map(({ agents }) => agents)]);
}
