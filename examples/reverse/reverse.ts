import { defineEnvironment, definePlugin, generatedTasks, messageText, observe, soleStep, taskById, textMessage } from "@mrlm/kit";
import { score } from "@mrlm/spec";

const splits = { train: { size: 500, share: 9 }, eval: { size: 50, share: 1 } };
const toTask = (number: string) => ({ public: { number }, private: { answer: [...number].reverse().join("") }, key: number });

const reverse = defineEnvironment({
  id: "reverse@1",
  description: "Write the digits of a number backwards.",
  determinism: "full",
  tasks: () => generatedTasks({ seed: 0, splits, generate: (random) => toTask(String(random.integer(10, 999))) }),
  create({ tasks }) {
    let answer = "";
    return {
      async reset({ task = "train/0" }) {
        const { public: shown, private: hidden } = await taskById(tasks, task);
        answer = hidden.answer;
        return observe([textMessage("user", shown.number)]);
      },
      async step({ message }) {
        const said = messageText(message);
        const right = [...answer].filter((digit, i) => digit === said[i]).length / Math.max(answer.length, said.length);
        return soleStep({ reward: score(right, { correct: said === answer ? 1 : 0 }), terminated: true });
      },
    };
  },
  async demonstrate({ tasks }, _options, task) {
    const { public: shown, private: hidden } = await taskById(tasks, task);
    return { task, agent: "agent", messages: [textMessage("user", shown.number), textMessage("assistant", hidden.answer)] };
  },
});

export default definePlugin({ name: "reverse-environment", environments: [reverse] });
