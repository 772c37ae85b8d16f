import { listedTasks, type TaskSource } from "@mrlm/kit";
import type { SignalsOptions } from "./options.ts";

/** Meaning from 1 that the sender has to transmit. */
export type SignalsTask = {
  readonly meaning: number;
  readonly purpose: "practice" | "measurement";
};

/** Returns one task per meaning in each split. The game has no other meanings to hold out: an evaluation measures whether the agents agree on a code. */
export function signalsTasks({ meanings }: SignalsOptions): TaskSource<SignalsTask> {
  const all = (purpose: SignalsTask["purpose"]): SignalsTask[] =>
    Array.from({ length: meanings }, (_, i) => ({ meaning: i + 1, purpose }));
  return listedTasks({ train: all("practice"), eval: all("measurement") }, (task) => ({ public: task, private: {} }));
}
