import { definePlugin, generatedTasks, singleTurn } from "@mrlm/kit";
import { fixtures } from "./fixtures.ts";

const splits = { train: { size: 500, share: 9 }, eval: { size: 50, share: 1 } };
const reversed = (text: string) => [...text].reverse().join("");
const toTask = (number: string) => ({ public: { number }, private: { answer: reversed(number) }, key: number });

const reverse = singleTurn({
  id: "reverse@1",
  description: "Write the digits of a number backwards.",
  tasks: () => generatedTasks({ seed: 0, splits, generate: (random) => toTask(String(random.integer(10, 999))) }),
  prompt: ({ number }) => number,
  answer: ({ private: { answer } }) => answer,
  score: (text, { private: { answer } }) =>
    [...answer].filter((digit, i) => digit === text[i]).length / Math.max(answer.length, text.length),
  fixtures,
});

export default definePlugin({ name: "reverse-environment", environments: [reverse] });
