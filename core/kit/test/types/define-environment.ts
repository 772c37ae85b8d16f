// Types of environments. `tsc --build` compiles this file; nothing runs it.
import { z } from "zod";
import { defineEnvironment, generatedTasks, observe, singleStep, singleTurn } from "../../src/index.ts";

const options = z.strictObject({ length: z.int().default(4), judge: z.string().default("rules@1") }).prefault({});

const tasks = () =>
  generatedTasks({
    seed: 0,
    splits: { train: { size: 8, share: 1 }, eval: { size: 8, share: 1 } },
    generate: (random) => ({ public: { word: random.pick(["a", "b"]) }, private: { answer: 1 }, key: "a" }),
  });

defineEnvironment({
  id: "words@1",
  description: "Words.",
  options,
  determinism: ({ length }) => (length > 2 ? "full" : "none"),
  rewardRange: ({ length }) => [0, length],
  requires: (_context, { judge }) => [{ id: `judge:${judge}`, asker: "judge" }],
  tasks: (_context, { length }) => {
    length satisfies number;
    return tasks();
  },
  create(context, { length }) {
    length satisfies number;
    // @ts-expect-error an option of another type
    length satisfies string;
    return {
      async reset({ task = "train/0" }) {
        const [split = "", index] = task.split("/");
        const { public: shown, private: hidden } = await context.tasks.get(split, Number(index));
        shown.word satisfies string;
        hidden.answer satisfies number;
        // @ts-expect-error the public part has no answer
        shown.answer satisfies number;
        return observe([]);
      },
      step: async () => singleStep({ reward: { scored: true, value: 0, components: {} }, terminated: true }),
    };
  },
  fixtures: [{ name: "right", kind: "gold", policy: ({ task }) => String(task.private.answer), reward: 1 }],
});

defineEnvironment({
  id: "words@5",
  description: "Words.",
  determinism: "full",
  tasks,
  create: () => ({
    reset: async () => observe([]),
    step: async () => singleStep({ reward: { scored: true, value: 0, components: {} }, terminated: true }),
  }),
  // @ts-expect-error a field that the private part lacks
  fixtures: [{ name: "wrong", kind: "nop", policy: ({ task }) => String(task.private.answers), reward: 0 }],
});

defineEnvironment({
  id: "words@6",
  description: "Words.",
  determinism: "full",
  create: () => ({
    reset: async () => observe([]),
    step: async () => singleStep({ reward: { scored: true, value: 0, components: {} }, terminated: true }),
  }),
  // @ts-expect-error a kind that does not exist
  fixtures: [{ name: "other", kind: "golden", policy: () => "", reward: 0 }],
});

defineEnvironment({
  id: "words@2",
  description: "Words.",
  determinism: "full",
  // @ts-expect-error a kind of service that does not exist
  requires: ["scorers:math@2"],
  create: () => ({
    reset: async () => observe([]),
    // @ts-expect-error a step returns rewards and an observation
    step: async () => ({ terminated: true }),
  }),
});

defineEnvironment({
  // @ts-expect-error an id without a version
  id: "words",
  description: "Words.",
  determinism: "full",
  create: () => ({
    reset: async () => observe([]),
    step: async () => singleStep({ reward: { scored: true, value: 0, components: {} }, terminated: true }),
  }),
});

singleTurn({
  id: "words@3",
  description: "Words.",
  options,
  tasks,
  prompt: ({ word }, { length }) => word.repeat(length),
  score(text, { private: { answer } }, { options: { length } }) {
    length satisfies number;
    // @ts-expect-error the answer is a number
    return text === answer ? 1 : 0;
  },
});

singleTurn({
  id: "words@4",
  description: "Words.",
  tasks,
  // @ts-expect-error a prompt receives the public part only
  prompt: ({ answer }) => String(answer),
  score: () => 1,
});
