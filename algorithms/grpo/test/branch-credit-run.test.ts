import { beforeAll, describe, expect, test } from "@jest/globals";
import { score, textMessage } from "@mrlm/kit";
import type { JsonObject, TrajectoryGroup } from "@mrlm/kit/learning";
import {
  type BigramOutcome,
  duelEnvironment,
  lettersEnvironment,
  trainBigram,
  trainBigramInterrupted,
} from "@mrlm/testing";
import { lettersTraining } from "./support/letters-training.ts";

/** Three turns, of which the last one earns. */
const letters = lettersEnvironment({
  turns: 3,
  reward: (text, { turn }) => score(turn === 2 ? text.split("a").length - 1 : 0),
});

const training = (options: JsonObject = {}, config: JsonObject = {}) =>
  lettersTraining(letters, { credit: "branch", branches: 2, ...options }, config);
const metricsOf = ({ reports }: BigramOutcome) => reports.map(({ metrics }) => metrics);
const turnsOf = (groups: readonly TrajectoryGroup[]) =>
  groups.flatMap(({ trajectories }) => trajectories.flatMap(({ turns }) => [...turns.entries()]));

describe("grpo with credit by branches on a bigram model", () => {
  let whole: BigramOutcome;
  beforeAll(async () => {
    whole = await trainBigram(training());
  });

  test("branches reach the advantages of tokens, and their costs the metrics", () => {
    const credits = whole.reports.flatMap(({ credits: own = [] }) => own);
    expect(credits.some(({ advantage }) => new Set(advantage as Float32Array).size === 3)).toBe(true);
    for (const [i, metrics] of metricsOf(whole).entries()) {
      const turns = turnsOf(whole.played[i] as readonly TrajectoryGroup[]);
      const branches = turns.flatMap(([, turn]) => turn.branches ?? []);
      // 16 episodes, 2 turns with 2 branches each: 2 and 1 own turns after 1 and 2 repeated ones.
      expect(metrics).toMatchObject({
        "branches/played": 64,
        "branches/failed": 0,
        "branches/unscored": 0,
        "branches/turns": 32 * 2 + 32,
        "branches/repeated_turns": 32 + 32 * 2,
        "branches/tokens": branches.reduce((sum, { tokens }) => sum + tokens, 0),
        "episodes/played": 16,
      });
      expect(branches.reduce((sum, { tokens }) => sum + tokens, 0)).toBeGreaterThan(96);
    }
  });

  test.each([5, 10])(
    "numerics 52: killed at optimizer step %i and resumed, it ends with the same weights",
    async (at) => {
      const resumed = await trainBigramInterrupted(training(), at);
      expect(resumed.weights).toEqual(whole.weights);
      expect(metricsOf(resumed)).toEqual(resumed.reports.map(({ iteration }) => whole.reports[iteration - 1]?.metrics));
    },
  );

  test("the number of places changes no bit", async () => {
    const few = await trainBigram(training({}, { sampling: { max_tokens: 8, concurrency: 3 } }));
    expect(few.weights).toEqual(whole.weights);
  });

  test("asynchronous play has branches, and no token is older than the lag", async () => {
    const { played, reports } = await trainBigram(
      training(
        { steps: 8 },
        {
          play: { mode: "async", lag: 2 },
          sampling: { max_tokens: 8, concurrency: 8 },
          environments: [{ id: "letters" }],
        },
      ),
    );
    expect(turnsOf(played.flat()).some(([, { branches = [] }]) => branches.length === 2)).toBe(true);
    for (const { metrics } of reports) expect(metrics["offpolicy/lag_max"]).toBeLessThanOrEqual(2);
  });

  test("an environment that cannot be repeated is refused before work begins, at the place of the stage", async () => {
    const { create, ...duel } = duelEnvironment();
    const luck = { ...duel, create, determinism: "none" as const };
    await expect(trainBigram({ ...training(), environments: [luck] })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(
        /run.yaml.*grpo@1 plays branches.*duel@1 has determinism "none" and no snapshots here/s,
      ),
    });
  });

  test("an environment that cannot be repeated has branches by its snapshots", async () => {
    const luck: typeof letters = {
      ...letters,
      determinism: "none",
      snapshots: true,
      create: async (...given) => {
        const made = await letters.create(...given);
        let turns = 0;
        const answer = { agent: "agent", message: textMessage("assistant", ""), finishReason: "stop" } as const;
        return {
          reset: (options) => ((turns = 0), made.reset({ ...options, task: "train/0" })),
          step: (action, options) => (turns++, made.step(action, options)),
          snapshot: async () => turns,
          restore: async (state, options) => {
            while (turns < Number(state)) {
              turns++;
              await made.step(answer, options);
            }
          },
        };
      },
    };
    const { reports, notices } = await trainBigram({ ...training({ steps: 1 }), environments: [luck] });
    expect(reports[0]?.metrics).toMatchObject({ "branches/played": 64, "branches/failed": 0, "branches/turns": 96 });
    expect(reports[0]?.metrics["branches/repeated_turns"]).toBe(0);
    expect(notices.join()).not.toContain("branches");
  });

  test("branches that fail are named in a notice", async () => {
    let opened = 0;
    const broken = {
      ...letters,
      create: async (...given: Parameters<typeof letters.create>) => {
        const made = await letters.create(...given);
        const number = opened++;
        const step: typeof made.step = async (action, options) => {
          const result = await made.step(action, options);
          return number % 5 === 4 ? { ...result, rewards: { agent: score(opened) } } : result;
        };
        return { ...made, reset: made.reset.bind(made), step };
      },
    };
    const { notices, reports } = await trainBigram({ ...training({ steps: 1 }), environments: [broken] });
    const failed = Number(reports[0]?.metrics["branches/failed"]);
    expect(failed).toBeGreaterThan(0);
    expect(notices.join("\n")).toContain(
      `${failed} of 64 branches failed and were left out, the first with ENVIRONMENT_FAILED: `,
    );
  });
});
