import {
  anyTask,
  defineEnvironment,
  definePlugin,
  generatedTasks,
  messageText,
  randomStream,
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
 * World of three turns. Each shows a symbol and `+` or `-`: good or bad luck. An answer that is the next symbol of the cycle earns 1/3 at once; luck earns 10 or -10
 * beside it, whatever the answer is. The luck of a turn follows from the seed and the answers before it, so that members of a group differ in it. Luck is shown but earns
 * nothing in the split `eval`, where the rewards of an episode are the share of right answers.
 */
const creditWorld = defineEnvironment({
  id: "credit-world@1",
  description: "Answer the symbol that follows the shown one.",
  determinism: "full",
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
    let [shown, answers, isTraining, key]: [readonly number[], string[], boolean, string] = [[], [], true, ""];
    const luck = (): boolean => randomStream([key, ...answers].join("/"), 0).next() < 0.5;
    const observe = (): Observation => {
      const text = `${SYMBOLS[shown[answers.length] as number]}${luck() ? "+" : "-"}`;
      const stateKey = `turn ${answers.length}: ${text}`;
      return { agent: SINGLE_AGENT, messages: [textMessage("user", text)], info: { stateKey } };
    };
    return {
      async reset({ seed = 0, task = anyTask(context, seed) }) {
        shown = (await taskById(context.tasks, task)).public.shown;
        [answers, isTraining, key] = [[], task.startsWith("train"), `${task} ${seed}`];
        return observe();
      },
      async step({ message }) {
        const earned = isTraining ? (luck() ? LUCK : -LUCK) : 0;
        const at = answers.push(messageText(message)) - 1;
        const isRight = answers[at] === SYMBOLS[((shown[at] as number) + 1) % SYMBOLS.length];
        const reward = score((Number(isRight) + earned) / TURNS);
        if (answers.length === TURNS) return singleStep({ reward, terminated: true });
        return { ...singleStep({ reward }), observation: observe() };
      },
    };
  },
});

export default definePlugin({ name: "credit-world", environments: [creditWorld] });
