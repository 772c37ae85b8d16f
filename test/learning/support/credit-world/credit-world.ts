import {
  defineEnvironment,
  definePlugin,
  generatedTasks,
  messageText,
  observe,
  randomStream,
  singleStep,
  textMessage,
} from "@mrlm/kit";
import { type Observation, score } from "@mrlm/spec";

const SYMBOLS = "01234567";
/** Standard deviation of the noise, in right answers. */
const NOISE = 20;

const following = (symbol: string): string => SYMBOLS[(SYMBOLS.indexOf(symbol) + 1) % SYMBOLS.length] as string;

/**
 * World of three turns. The first and the last ask for the symbol that follows the shown one, and a right answer earns 0.5 at once. In training the turn between
 * them earns noise, whatever the answer is: a normal deviate of the seed and of the answers so far, so that members of a group differ. The rewards of an episode of the
 * split `eval` are the share of right answers.
 */
const creditWorld = defineEnvironment({
  id: "credit-world@1",
  description: "Answer the symbol that follows the shown one, in the first and in the third turn.",
  determinism: "full",
  maxTurns: 3,
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 4000, share: 8 }, eval: { size: 64, share: 1 } },
      generate: (random) => {
        const symbol = (): string => SYMBOLS[random.integer(0, SYMBOLS.length - 1)] as string;
        const public_ = { first: symbol(), last: symbol(), id: random.integer(0, 2 ** 40) };
        return { public: public_, private: {}, key: String(public_.id) };
      },
    }),
  create: ({ tasks }) => {
    let [first, last, isTraining] = ["", "", true];
    let seed = 0;
    let answers: string[] = [];
    const shown = (symbol: string): Observation =>
      observe([textMessage("user", symbol)], { info: { stateKey: `${answers.length} ${symbol}` } });
    return {
      async reset() {
        throw new Error(String(tasks));
      },
      async step({ message }) {
        const answer = messageText(message).slice(0, 1);
        answers.push(answer);
        return singleStep({ reward: score(0) });
      },
    };
  },
});

export default definePlugin({ name: "credit-world", environments: [creditWorld] });
