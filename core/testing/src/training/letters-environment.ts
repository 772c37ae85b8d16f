import { defineEnvironment, generatedTasks, messageText, observe, singleStep, textMessage } from "@mrlm/kit";
import { type EnvironmentDefinition, type Reward, score, type SimulatedEnvironment } from "@mrlm/spec";

/** Reward of a response in the letters environment. */
export type LettersReward = (text: string, task: { readonly index: number; readonly turn: number }) => Reward;

/** Returns the share of the letter "a" in a response, which does not depend on its length. */
const shareOfA: LettersReward = (text) =>
  score(text.length === 0 ? 0 : [...text].filter((letter) => letter === "a").length / text.length);

/**
 * Returns an environment that a {@link BigramEngine} can learn: it shows a digit and rewards the response, in one turn or several. If the reward throws,
 * the episode fails.
 */
export function lettersEnvironment(
  options: {
    readonly turns?: number;
    readonly tasks?: number;
    readonly reward?: LettersReward;
    readonly id?: `${string}@${number}`;
    readonly demonstration?: string;
    /** Returns the key of the state after a response; default: none is stated. */
    readonly stateKey?: (text: string) => string;
  } = {},
): EnvironmentDefinition {
  const { turns = 1, tasks = 64, reward = shareOfA, id = "letters@1", demonstration = "aa", stateKey } = options;
  const infoOf = (text: string) => (stateKey === undefined ? {} : { info: { stateKey: stateKey(text) } });
  return defineEnvironment({
    id,
    description: "Rewards letters.",
    determinism: "full",
    tasks: () =>
      generatedTasks({
        seed: 1,
        splits: { train: { size: tasks, share: 3 }, eval: { size: 8, share: 1 } },
        generate: (random) => {
          const shown = random.integer(0, 99_999);
          return { public: { shown }, private: {}, key: String(shown) };
        },
      }),
    create: (): SimulatedEnvironment => {
      let index = 0;
      let turn = 0;
      return {
        async reset({ task = "train/0" }) {
          index = Number(task.split("/")[1]);
          turn = 0;
          return observe([textMessage("user", String(index % 10))], infoOf(""));
        },
        async step({ message }) {
          const text = messageText(message);
          const earned = reward(text, { index, turn });
          turn++;
          const { observation, ...result } = singleStep({
            messages: turn < turns ? [textMessage("user", `${turn}`)] : [],
            reward: earned,
            terminated: turn >= turns,
          });
          return { ...result, observation: { ...observation, ...infoOf(text) } };
        },
      };
    },
    async demonstrate(_context, _options, task) {
      return {
        task,
        agent: "agent",
        messages: [
          textMessage("user", String(Number(task.split("/")[1]) % 10)),
          textMessage("assistant", demonstration),
        ],
      };
    },
  });
}
