import { expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import { type JsonObject, score } from "@mrlm/spec";
import {
  type BigramOutcome,
  type BigramTraining,
  lettersEnvironment,
  trainBigram,
  trainBigramInterrupted,
} from "@mrlm/testing";

/** A third of the tasks is solved by every answer, a third by none. */
const mixed = (id: `${string}@${number}`) =>
  lettersEnvironment({
    id,
    tasks: 30,
    reward: (text, { index }) =>
      score([1, 0, [...text].filter((letter) => letter === "a").length / 8][index % 3] as number),
  });

function training(play: JsonObject): BigramTraining {
  return {
    algorithms: [grpo],
    environments: [mixed("one@1"), mixed("two@1")],
    stages: [
      {
        ...{ algorithm: "grpo", steps: 7, prompts_per_step: 4, group_size: 4, learning_rate: 0.1 },
        ...{ dynamic_sampling: 2, mismatch: "truncate" },
        curriculum: { half_life: 3, mixture: "progress" },
      },
    ],
    config: { play },
  };
}

/** Returns the metrics of the order after the last iteration. */
function placesOf({ reports }: BigramOutcome): [string, unknown][] {
  return Object.entries(reports.at(-1)?.metrics ?? {}).filter(([name]) => name.startsWith("curriculum/"));
}

test.each([{}, { mode: "pipelined", lag: 2, cohorts: 2 }] as JsonObject[])(
  "play %j: a run with a curriculum that is interrupted learns from the tasks of one that is not, to the same weights",
  async (play) => {
    const whole = await trainBigram(training(play));
    const tasks = whole.played.map((groups) => groups.map(({ id }) => id));
    expect(placesOf(whole).map(([name]) => name)).toEqual([
      ...["active", "easy", "hard", "share/one@1", "share/two@1"].map((name) => `curriculum/${name}`),
    ]);
    for (const dieAt of [2, 5]) {
      const resumed = await trainBigramInterrupted(training(play), dieAt);
      expect(resumed.weights.equals(whole.weights)).toBe(true);
      expect(resumed.played.map((groups) => groups.map(({ id }) => id))).toEqual(tasks.slice(-resumed.played.length));
      expect(placesOf(resumed)).toEqual(placesOf(whole));
    }
    const fixed = await trainBigram({
      ...training(play),
      stages: training(play).stages.map(({ curriculum: _, ...stage }) => stage),
    });
    expect(fixed.played.map((groups) => groups.map(({ id }) => id))).not.toEqual(tasks);
  },
);
