import { beforeAll, describe, expect, test } from "@jest/globals";
import { score } from "@mrlm/kit";
import type { JsonObject, Mean } from "@mrlm/kit/learning";
import { type BigramOutcome, lettersEnvironment, trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { lettersTraining } from "./support/letters-training.ts";

/** Three turns. The reward of the first is that of its letters, the others earn noise of theirs. */
const threeTurns = {
  turns: 3,
  reward: (text: string, { turn }: { readonly turn: number }) =>
    score(turn === 0 ? text.split("a").length - 1 : (((text.charCodeAt(0) || 0) * 7919) % 13) / 2),
};
const letters = lettersEnvironment(threeTurns);
/** The same, which states the first letter of the last response. */
const stated = lettersEnvironment({ ...threeTurns, stateKey: (text) => text.slice(0, 1) });

const training = (options: JsonObject = {}, config: JsonObject = {}) =>
  lettersTraining(stated, { credit: "state", gamma: 0.5, ...options }, config);
const metricsOf = ({ reports }: BigramOutcome) => reports.map(({ metrics }) => metrics);

describe("grpo with credit by turn on a bigram model", () => {
  let whole: BigramOutcome;
  beforeAll(async () => {
    whole = await trainBigram(training());
  });

  test("the observation's info.stateKey reaches the comparison", () => {
    const shares = metricsOf(whole).map((metrics) => metrics["groups/turns_in_state"] as Mean);
    for (const { sum, count } of shares) {
      expect(count).toBe(4 * 4 * 3);
      // All first turns of a group are in one state.
      expect(sum).toBeGreaterThanOrEqual(4 * 4);
    }
    expect(shares.some(({ sum, count }) => sum < count)).toBe(true);
  });

  test("credits have one advantage for each token, and turns differ", () => {
    const credits = whole.reports.flatMap(({ credits = [] }) => credits);
    expect(credits.length).toBeGreaterThan(0);
    for (const { advantage, logprobs } of credits)
      expect((advantage as Float32Array).length).toBe((logprobs as Float32Array).length);
    expect(credits.some(({ advantage }) => new Set(advantage as Float32Array).size > 1)).toBe(true);
  });

  test("numerics 1, 7: weights and metrics are the same for every split into micro-batches", async () => {
    const model = {
      random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } } },
    };
    const [one, other] = await Promise.all(
      [20, 100_000].map((micro_batch_tokens) => trainBigram(training({}, { model: { ...model, micro_batch_tokens } }))),
    );
    expect(other?.weights).toEqual(one?.weights);
  });

  test.each([5, 10])(
    "numerics 52: killed at optimizer step %i and resumed, it ends with the same weights",
    async (at) => {
      const resumed = await trainBigramInterrupted(training(), at);
      expect(resumed.weights).toEqual(whole.weights);
      expect(metricsOf(resumed)).toEqual(resumed.reports.map(({ iteration }) => whole.reports[iteration - 1]?.metrics));
    },
  );

  test("without states, credit: state compares turns by their index", async () => {
    const bare = { ...training({ credit: "state" }), environments: [letters] };
    const byTurn = { ...training({ credit: "turn" }), environments: [letters] };
    const [state, turn] = [await trainBigram(bare), await trainBigram(byTurn)];
    expect(state.weights).toEqual(turn.weights);
    expect(metricsOf(state)[0]?.["groups/turns_in_state"]).toEqual({ sum: 0, count: 48 });
    expect(state.reports.map(({ notices }) => notices?.length)).toEqual([1, 0, 0]);
    expect(whole.reports.flatMap(({ notices = [] }) => notices)).toEqual([]);
    expect(state.weights).not.toEqual(whole.weights);
  });
});
