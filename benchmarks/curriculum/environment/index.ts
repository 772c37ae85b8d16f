/** Environment of the benchmark: a third of its tasks is too easy, a third can be learnt, a third is too hard. */
import {
  anyTask,
  defineEnvironment,
  definePlugin,
  generatedTasks,
  messageText,
  observe,
  randomStream,
  singleStep,
  taskById,
  textMessage,
} from "@mrlm/kit";
import { score } from "@mrlm/spec";

const SYMBOLS = 5;
/** Share of the demonstrations that show the last symbol; the others show any. */
const SHOWN_RIGHT = 0.25;
const KINDS = ["e", "m", "h"] as const;

/** `e`: every answer is right. `m`: the last symbol that is shown. `h`: a word that is longer than an answer. */
const mixed = defineEnvironment({
  id: "mixed@1",
  description: "The last of some symbols, among tasks that are too easy and too hard.",
  determinism: "full",
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 120, share: 8 }, eval: { size: 120, share: 2 } },
      generate: (random, { index }) => {
        const kind = KINDS[index % KINDS.length] as (typeof KINDS)[number];
        const shown = Array.from({ length: 5 }, () => random.integer(0, SYMBOLS - 1));
        return { public: { kind, shown }, private: {}, key: `${kind}${shown.join("")}` };
      },
    }),
  async demonstrate(context, _options, task) {
    const { kind, shown } = (await taskById(context.tasks, task)).public;
    const random = randomStream("demonstration", Number(task.split("/")[1]));
    const any = (): number => random.integer(0, SYMBOLS - 1);
    const answer = `${random.next() < SHOWN_RIGHT ? shown.at(-1) : any()}${any()}`;
    const messages = [textMessage("user", `${kind}${shown.join("")}`), textMessage("assistant", answer)];
    return { task, agent: "agent", messages };
  },
  create: (context) => {
    let isRight = (_answer: string): boolean => false;
    return {
      async reset({ seed = 0, task = anyTask(context, seed) }) {
        const { public: given } = await taskById(context.tasks, task);
        const { kind, shown } = given;
        const last = String(shown.at(-1));
        isRight = (answer) => kind === "e" || (kind === "m" ? answer.startsWith(last) : answer === shown.join(""));
        return observe([textMessage("user", `${kind}${shown.join("")}`)]);
      },
      step: async ({ message }) =>
        singleStep({ reward: score(Number(isRight(messageText(message)))), terminated: true }),
    };
  },
});

export default definePlugin({ name: "@mrlm/benchmark-curriculum", environments: [mixed] });
