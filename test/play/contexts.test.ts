import { describe, expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { defineEnvironment, generatedTasks, messageText, textMessage } from "@mrlm/kit";
import { ppo } from "@mrlm/ppo";
import { type AgentId, type JsonObject, roleOf, score } from "@mrlm/spec";
import { type BigramTraining, recordingEngine, trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { trainedTokens } from "./support/provenance.ts";

/** Longest sequence: the third observation of the talker has no room in it. */
const CONTEXT = 64;
const STEPS = 9;

/** A talker with long observations takes turns with three helpers, whose conversations start over at each turn. Each message earns its share of the letter "a". */
const shifts = defineEnvironment({
  id: "shifts@1",
  description: "Write the letter a.",
  determinism: "full",
  roles: { talker: {}, helper: { many: true } },
  tasks: () =>
    generatedTasks({
      seed: 1,
      splits: { train: { size: 32, share: 3 }, eval: { size: 8, share: 1 } },
      generate: (random) => {
        const shown = random.integer(0, 99_999);
        return { public: { shown }, private: {}, key: String(shown) };
      },
    }),
  create: () => {
    let step = 0;
    let isTalking = true;
    const ends = new Set<AgentId>();
    const shown = (agent: AgentId) => ({
      agent,
      messages: [textMessage("user", roleOf(agent) === "talker" ? "0123456789".repeat(2) : String(step % 10))],
      ...(roleOf(agent) === "helper" ? { isFresh: true } : {}),
    });
    return {
      async reset() {
        [step, isTalking] = [0, true];
        ends.clear();
        return shown("talker");
      },
      async step({ agent, message, finishReason }) {
        if (finishReason === "exhausted") isTalking = false;
        step++;
        ends.add(agent);
        const text = messageText(message);
        const share = [...text].filter((letter) => letter === "a").length / Math.max(1, text.length);
        const isOver = step === STEPS;
        const next = isTalking && step % 2 === 0 ? "talker" : `helper#${1 + (step % 3)}`;
        return {
          observation: isOver ? { agent: "", messages: [] } : shown(next),
          rewards: { [agent]: score(finishReason === "exhausted" ? 0.25 : share) },
          terminated: isOver ? Object.fromEntries([...ends, "talker"].map((each) => [each, true])) : {},
          truncated: {},
        };
      },
    };
  },
});

const STAGES: Readonly<Record<string, JsonObject>> = {
  grpo: { algorithm: "grpo", steps: 2, prompts_per_step: 2, group_size: 2, learning_rate: 0.2 },
  dpo: { algorithm: "dpo", steps: 2, prompts: 2, group_size: 3, collect_every: 1, batch_size: 4, learning_rate: 0.2 },
  ppo: { algorithm: "ppo", steps: 2, prompts_per_step: 2, learning_rate: 0.2 },
};

const training = (algorithm: string): BigramTraining => ({
  algorithms: [grpo, dpo, ppo],
  environments: [shifts],
  stages: [STAGES[algorithm] as JsonObject],
  config: {
    model: {
      random: {
        config: { initializer_range: 0.5, max_position_embeddings: CONTEXT },
        tokenizer: { characters: { alphabet: "abcd0123456789" } },
      },
    },
  },
});

describe.each(["grpo", "dpo", "ppo"])("%s with agents that join, start over and run out of context", (algorithm) => {
  test("learns from the sampled tokens alone, and credits each part at its own tokens", async () => {
    const { engine, asked } = recordingEngine();
    const { played, reports } = await trainBigram({ ...training(algorithm), engine });
    const trajectories = played.flat().flatMap((group) => group.trajectories);
    expect(trajectories.map(({ error }) => error)).toEqual(trajectories.map(() => undefined));
    for (const { turns, agents } of trajectories) {
      expect(turns.filter(({ stopReason }) => stopReason === "exhausted").map(({ agent }) => agent)).toEqual([
        "talker",
      ]);
      expect(agents["talker"]?.end).toEqual({ terminated: false, truncated: true, truncatedBy: "tokens" });
      const helped = turns.filter(({ agent }) => agent === "helper#1").length;
      expect(agents["helper#1"]).toMatchObject({
        role: "helper",
        end: { terminated: true },
        segments: { length: helped },
      });
      for (const { tokens } of Object.values(agents).flatMap(({ segments }) => segments))
        expect(tokens.length).toBeLessThanOrEqual(CONTEXT);
    }
    expect(trainedTokens(asked, "policy")).toMatchObject({ foreign: 0 });
    const sampled = new Map(
      trajectories.flatMap(({ id, agents }) =>
        Object.entries(agents).map(([agent, { segments }]) => [
          `${id} ${agent}`,
          segments.reduce((sum, { mask }) => sum + mask.reduce((total, bit) => total + bit, 0), 0),
        ]),
      ),
    );
    const credits = reports.flatMap((report) => report.credits ?? []);
    expect(new Set(credits.map(({ agent }) => roleOf(agent)))).toEqual(new Set(["talker", "helper"]));
    for (const { trajectory, agent, advantage, logprobs } of credits) {
      const count = sampled.get(`${trajectory} ${agent}`);
      expect(count).toBeGreaterThan(0);
      if (typeof advantage !== "number") expect(advantage).toHaveLength(count as number);
      if (logprobs !== undefined) expect(logprobs).toHaveLength(count as number);
    }
  });
});

test("a run with such agents has the bits of the undisturbed run after a kill", async () => {
  const whole = await trainBigram(training("ppo"));
  expect((await trainBigramInterrupted(training("ppo"), 2)).weights).toEqual(whole.weights);
});
