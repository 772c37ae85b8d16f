import { expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import { diagnose, readRun, RunDirectory } from "@mrlm/runtime";
import { lettersEnvironment, trainBigram } from "@mrlm/testing";

test("an environment that is configured twice: measurements are distinct, and no episode takes another's place", async () => {
  // With so few tasks, both entries play tasks of the same names.
  const environments = [lettersEnvironment({ tasks: 4, turns: 3 })];
  const config = {
    environments: [
      { id: "letters@1", max_turns: 2 },
      { id: "letters@1", max_turns: 1 },
    ],
    eval: { tasks: 4 },
  };
  const { summary, played: batches } = await trainBigram({
    algorithms: [grpo],
    environments,
    stages: [{ algorithm: "grpo", steps: 2, prompts_per_step: 8, group_size: 2 }],
    config,
  });
  expect(summary.evaluations.map(({ results }) => results.map(({ environment }) => environment))).toEqual([
    ["letters@1", "letters@1#2"],
    ["letters@1", "letters@1#2"],
  ]);
  const played = batches.flat().flatMap(({ trajectories }) => trajectories);
  expect([played.length, new Set(played.map(({ id }) => id)).size]).toEqual([32, 32]);
  // Each keeps its own limit of turns, here the only difference between the two.
  expect(played.map(({ turns }) => turns.length).toSorted()).toEqual([
    ...Array<number>(16).fill(1),
    ...Array<number>(16).fill(2),
  ]);
  const store = RunDirectory.open(summary.directory).readEpisodes();
  expect([...(store?.read() ?? [])]).toHaveLength(32);
  store?.close();
  expect(diagnose(readRun(summary.directory)).map(({ rule }) => rule)).not.toContain("evaluation-drop");
});
