import { expect, test } from "@jest/globals";
import consultationPlugin from "@mrlm/environment-consultation";
import { grpo } from "@mrlm/grpo";
import { messageText } from "@mrlm/kit";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import type { JsonObject } from "@mrlm/spec";
import { recordingEngine, trainBigram } from "@mrlm/testing";
import { trainedTokens } from "./support/provenance.ts";

const ALPHABETS = { doctor: "abcdefghijkny0123456789:?-", patient: "-?:9876543210ynkjihgfedcba" };
type Role = keyof typeof ALPHABETS;
const ROLES = ["doctor", "patient"] as const;

test("doctor and patient learn from the same dialogues: each from its own tokens, in groups of one case", async () => {
  const { engine, asked } = recordingEngine();
  const model = (role: Role): JsonObject => ({
    random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: ALPHABETS[role] } } },
  });
  const learner = { algorithm: "grpo", steps: 1, prompts_per_step: 4, group_size: 8, learning_rate: 0.1 };
  const { played, reports } = await trainBigram({
    algorithms: [grpo],
    environments: [],
    plugins: [consultationPlugin],
    stages: [{ learners: { doctor: learner, patient: learner } }],
    config: {
      model: undefined,
      policies: { doctor: model("doctor"), patient: model("patient") },
      environments: [
        {
          id: "consultation@1",
          options: { style: "terse", conditions: 4, questions: 2 },
          players: { doctor: "doctor", patient: "patient" },
        },
      ],
      sampling: { max_tokens: 1 },
    } as unknown as JsonObject,
    engine,
  });

  const groups = new Map(played.flat().map((group) => [group.id, group]));
  expect(groups.size).toBe(4);
  for (const { trajectories } of groups.values()) {
    expect(trajectories).toHaveLength(8);
    expect(new Set(trajectories.map(({ task }) => task)).size).toBe(1);
    for (const { turns, agents } of trajectories)
      for (const { agent, tokens, response } of turns) {
        const files = characterTokenizerFiles({ alphabet: ALPHABETS[agent as Role] });
        const renderer = chatRenderer({ tokenizerFiles: files, eosTokenIds: [1] });
        const sampled = agents[agent]?.segments[tokens?.segment ?? -1]?.tokens.subarray(tokens?.start, tokens?.end);
        expect(messageText(renderer.parse(sampled as Int32Array))).toBe(messageText(response));
      }
  }
  for (const role of ROLES) {
    expect(trainedTokens(asked, role)).toEqual({ trained: expect.any(Number), foreign: 0 });
    expect(trainedTokens(asked, role).trained).toBeGreaterThan(0);
    expect(reports[0]?.metrics).toHaveProperty([`${role}/reward/mean`]);
  }
});
