import { listedTasks, type TaskSource } from "@mrlm/kit";
import { isWon, LARGEST_PILE } from "./rules.ts";

/** Number of objects at the beginning, and the end of the episode. */
export type NimTask = {
  readonly pile: number;
  readonly ends: "after the game" | "after one move";
};

const PILES = Array.from({ length: LARGEST_PILE }, (_, i) => i + 1);

/** Returns games from every pile for training, and for evaluation the first move in every position that the agent on turn can win. */
export function nimTasks(): TaskSource<NimTask> {
  return listedTasks(
    {
      train: PILES.map((pile): NimTask => ({ pile, ends: "after the game" })),
      eval: PILES.filter(isWon).map((pile): NimTask => ({ pile, ends: "after one move" })),
    },
    (task) => ({ public: task, private: {} }),
  );
}
