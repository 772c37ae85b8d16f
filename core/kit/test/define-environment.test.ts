import { expect, test } from "@jest/globals";
import { score } from "@mrlm/spec";
import {
  defineEnvironment,
  generatedTasks,
  listedTasks,
  observe,
  singleStep,
  taskById,
  textMessage,
} from "../src/index.ts";

// Types are checked by `npm run lint`, which compiles the tests: a line after `@ts-expect-error` must not compile.
test("U14: the sides of a task have the types that `tasks` gives them, in create, demonstrate and fixtures", async () => {
  const doubling = defineEnvironment({
    id: "doubling@1",
    description: "Double a number.",
    determinism: "full",
    tasks: () =>
      generatedTasks({
        seed: 0,
        splits: { train: { size: 8, share: 1 }, eval: { size: 8, share: 1 } },
        generate: (random) => doubled(random.integer(0, 1000)),
      }),
    create({ tasks }) {
      let answer = 0;
      return {
        async reset({ task = "train/0" }) {
          const { public: shown, private: hidden } = await taskById(tasks, task);
          answer = hidden.answer;
          // @ts-expect-error -- no such member
          void hidden.anwser;
          return observe([textMessage("user", shown.question.toUpperCase())]);
        },
        step: async () => singleStep({ reward: score(answer), terminated: true }),
      };
    },
    async demonstrate({ tasks }, _, task) {
      const { private: hidden } = await taskById(tasks, task);
      return {
        task,
        agent: "agent",
        messages: [textMessage("user", "?"), textMessage("assistant", hidden.answer.toFixed())],
      };
    },
    fixtures: [{ name: "right", kind: "gold", reward: 1, policy: ({ task }) => task.private.answer.toFixed() }],
  });
  const { private: hidden } = (await (await doubling.tasks?.({} as never, undefined))?.get("train", 3)) ?? {
    private: { answer: -1 },
  };
  expect(hidden.answer % 2).toBe(0);
});

test("U14: tasks of a list have the types of its rows", async () => {
  const tasks = listedTasks({ train: [{ q: "a", n: 1 }], eval: [] }, ({ q, n }) => ({ public: { q }, private: { n } }));
  const { private: hidden } = await taskById(tasks, "train/0");
  const n: number = hidden.n;
  // @ts-expect-error -- a number is no text
  const text: string = hidden.n;
  expect([n, text]).toEqual([1, 1]);
});

const doubled = (n: number) => ({ public: { question: `Double ${n}.` }, private: { answer: 2 * n }, key: String(n) });
