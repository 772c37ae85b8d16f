/** Environment of the benchmark: `waiting@1` rewards letters after a wait of a lognormal distribution with mean 1 s and 99th percentile 10 s. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  defineEnvironment,
  definePlugin,
  messageText,
  observe,
  randomStream,
  singleStep,
  textMessage,
} from "@mrlm/kit";
import { score, type Task } from "@mrlm/spec";

// exp(MU + SIGMA² / 2) = 1 and exp(MU + 2.326 SIGMA) = 10.
const SIGMA = 1.429;
const MU = -(SIGMA ** 2) / 2;
const TASKS = 10_000;

/** Returns a normal deviate of a seed (Box and Muller). Members of a group have one seed, and so one wait: the slowest group decides. */
function normal(seed: number): number {
  const random = randomStream("waits", seed);
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

const waiting = defineEnvironment({
  id: "waiting@1",
  description: "Rewards the share of ones in an answer, after a wait.",
  determinism: "full",
  tasks: () => ({
    splits: { train: TASKS, eval: 16 },
    get: async (split, index): Promise<Task> => ({ id: `${split}/${index}`, public: {}, private: {} }),
  }),
  create: () => {
    let seconds = 0;
    return {
      async reset({ seed }) {
        seconds = Math.exp(MU + SIGMA * normal(Number(seed)));
        return observe([textMessage("user", "write ones")]);
      },
      async step({ message }) {
        await sleep(seconds * 1000);
        const letters = [...messageText(message)];
        const ones = letters.filter((letter) => letter === "1").length;
        return singleStep({ reward: score(ones / Math.max(1, letters.length)), terminated: true });
      },
    };
  },
});

export default definePlugin({ name: "@mrlm/benchmark-async", environments: [waiting] });
