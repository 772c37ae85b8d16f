/** Environments of the benchmark: `waiting@1` and `slow-half@1` reward letters after a wait. */
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

/** Returns a normal deviate of a seed (Box and Muller). Members of a group have one seed, and so one wait: the slowest group decides. */
function normal(seed: number): number {
  const random = randomStream("waits", seed);
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** @param secondsOf returns the wait of an episode by its seed and the index of its task */
function waiting(
  id: `${string}@${number}`,
  description: string,
  count: number,
  secondsOf: (seed: number, index: number) => number,
) {
  return defineEnvironment({
    id,
    description,
    determinism: "full",
    tasks: () => ({
      splits: { train: count, eval: 16 },
      get: async (split, index): Promise<Task> => ({ id: `${split}/${index}`, public: {}, private: {} }),
    }),
    create: () => {
      let seconds = 0;
      return {
        async reset({ seed, task }) {
          seconds = secondsOf(Number(seed), Number(task?.split("/")[1]));
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
}

export default definePlugin({
  name: "@mrlm/benchmark-async",
  environments: [
    waiting(
      "waiting@1",
      "Rewards the share of ones in an answer, after a wait of a lognormal distribution with mean 1 s and 99th percentile 10 s.",
      10_000,
      (seed) => Math.exp(MU + SIGMA * normal(seed)),
    ),
    // An epoch is two batches, so that the share of the slow tasks among all opened groups is one half.
    waiting(
      "slow-half@1",
      "Rewards the share of ones in an answer, after a wait of 4 s in odd tasks.",
      16,
      (_, index) => (index % 2 === 1 ? 4 : 0),
    ),
  ],
});
