import {
  anyTask,
  defineEnvironment,
  definePlugin,
  generatedTasks,
  messageText,
  SINGLE_AGENT,
  singleStep,
  taskById,
  textMessage,
} from "@mrlm/kit";
import { type Observation, score } from "@mrlm/spec";

const SYMBOLS = "0123";
const TURNS = 3;
/** Reward of luck, in right answers. */
const LUCK = 30;

/**
 * World of three turns. Each shows a symbol, and an answer that is the next symbol of the cycle earns 1/3 at once. Luck earns 10 or -10 beside it, whatever the answer
 * is; it is drawn anew in each turn, and part of the state. In the split `eval` luck earns nothing: the rewards of an episode are the share of right answers.
 */
const creditWorld = defineEnvironment({
  id: "credit-world@1",
  description: "Answer the symbol that follows the shown one.",
  // No seed decides about luck, so that the members of a group differ in it.
  determinism: "none",
  rewardRange: [-LUCK, LUCK + 1],
  maxTurns: TURNS,
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 4000, share: 8 }, eval: { size: 64, share: 1 } },
      generate: (random) => {
        const shown = Array.from({ length: TURNS }, () => random.integer(0, SYMBOLS.length - 1));
        const id = random.integer(0, 2 ** 30);
        return { public: { shown, id }, private: {}, key: String(id) };
      },
    }),
  create: (context) => {
    let [shown, answered, isTraining, isLucky]: [readonly number[], number, boolean, boolean] = [[], 0, true, false];
    const observe = (): Observation => {
      isLucky = Math.random() < 0.5;
      const symbol = SYMBOLS[shown[answered] as number] as string;
      return {
        agent: SINGLE_AGENT,
        messages: [textMessage("user", symbol)],
        info: { stateKey: `turn ${answered}: ${symbol}, luck: ${isLucky}` },
      };
    };
    return {
      async reset({ seed = 0, task = anyTask(context, seed) }) {
        shown = (await taskById(context.tasks, task)).public.shown;
        [answered, isTraining] = [0, task.startsWith("train")];
        return observe();
      },
      async step({ message }) {
        const isRight = messageText(message) === SYMBOLS[((shown[answered] as number) + 1) % SYMBOLS.length];
        const luck = isLucky ? LUCK : -LUCK;
        const reward = score((Number(isRight) + (isTraining ? luck : 0)) / TURNS);
        answered++;
        return answered === TURNS
          ? singleStep({ reward, terminated: true })
          : { ...singleStep({ reward }), observation: observe() };
      },
    };
  },
});

export default definePlugin({ name: "credit-world", environments: [creditWorld] });
