import { expect, test } from "@jest/globals";
import { type EnvironmentDefinition, generatedTasks, score } from "@mrlm/kit";
import { agentEnvironment } from "@mrlm/kit/agent";
import { lettersEnvironment, trainBigram } from "@mrlm/testing";
import { grpo } from "../src/index.ts";

const shareOfA = (text: string): number =>
  text.length === 0 ? 0 : [...text].filter((letter) => letter === "a").length / text.length;

const native = lettersEnvironment({
  turns: 3,
  reward: (text, { turn }) => score(turn === 2 ? shareOfA(text) : 0),
});
/** The same task as a program. */
const program = agentEnvironment({
  id: "letters@1",
  description: "Rewards letters.",
  determinism: "full",
  tasks: () =>
    generatedTasks({
      seed: 1,
      splits: { train: { size: 64, share: 3 }, eval: { size: 8, share: 1 } },
      generate: (random) => {
        const shown = random.integer(0, 99_999);
        return { public: { shown }, private: {}, key: String(shown) };
      },
    }),
  async run({ task, model }) {
    const messages: object[] = [{ role: "user", content: String(Number(task.id.split("/")[1]) % 10) }];
    for (let turn = 1; ; turn++) {
      const response = await model.fetch(`${model.baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${model.apiKey}` },
        body: JSON.stringify({ model: model.name, messages, stream: turn === 2 }),
      });
      const text = await response.text();
      const content = turn === 2 ? streamed(text) : JSON.parse(text).choices[0].message.content;
      if (turn === 3) return content;
      messages.push({ role: "assistant", content }, { role: "user", content: `${turn}` });
    }
  },
  score: ({ end }) => (end.kind === "returned" ? shareOfA(String(end.result)) : undefined),
});

function streamed(text: string): string {
  const events = text.split("\n\n").filter((event) => event.startsWith("data: {"));
  return events.map((event) => JSON.parse(event.slice(6)).choices[0].delta.content ?? "").join("");
}

test("a task as a program and by hand has the same bits of weights after ten steps", async () => {
  const train = (environment: EnvironmentDefinition) =>
    trainBigram({
      algorithms: [grpo],
      environments: [environment],
      stages: [{ algorithm: "grpo", steps: 10, prompts_per_step: 4, group_size: 4, learning_rate: 0.2 }],
    });
  const byHand = await train(native);
  const asProgram = await train(program as EnvironmentDefinition);
  expect(asProgram.weights.equals(byHand.weights)).toBe(true);
  const metrics = asProgram.reports.map((report) => report.metrics);
  expect(metrics.map((each) => each["reward/mean"])).toEqual(byHand.reports.map((each) => each.metrics["reward/mean"]));
  expect(metrics[0]).toMatchObject({ "agent/calls": { sum: 48, count: 16 }, "agent/segments": { sum: 16, count: 16 } });
});
