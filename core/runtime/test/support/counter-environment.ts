import { defineEnvironment, generatedTasks, observe, singleStep, taskById, textMessage } from "@mrlm/kit";
import { type EnvironmentDefinition, score, type SimulatedEnvironment } from "@mrlm/spec";
import { z } from "zod";

/** Counts its steps up to a goal; the reward of the last is 1. */
export function counterEnvironment(
  overrides: Partial<EnvironmentDefinition<any>> = {},
): EnvironmentDefinition<{ goal: number }> {
  return defineEnvironment({
    id: "counter@1",
    description: "Counts to a goal.",
    determinism: "full",
    options: z.strictObject({ goal: z.int().min(1).default(2) }),
    tasks: () =>
      generatedTasks({
        seed: 1,
        splits: { train: { size: 8, share: 1 }, eval: { size: 4, share: 1 } },
        generate: (random) => {
          const start = random.integer(0, 999);
          return { public: { start }, private: { start }, key: String(start) };
        },
      }),
    create: (context, options): SimulatedEnvironment => {
      let count = 0;
      return {
        async reset({ task, seed }) {
          count = 0;
          const { public: shown } = await taskById(context.tasks, task as string);
          return observe([textMessage("user", `${JSON.stringify(shown)} ${seed}`)]);
        },
        async step() {
          count++;
          const isLast = count >= options.goal;
          return singleStep({
            messages: [textMessage("user", `${count}`)],
            reward: score(isLast ? 1 : 0, { count }),
            terminated: isLast,
          });
        },
      };
    },
    ...overrides,
  });
}

export const messageOf = (text: string, agent = "agent") => ({
  agent,
  message: textMessage("assistant", text),
  finishReason: "stop" as const,
});

export const never = new AbortController().signal;
