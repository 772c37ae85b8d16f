import { generatedTasks, type TaskSource } from "@mrlm/kit";
import { type Condition, CONDITIONS, findingsOf } from "./conditions.ts";
import type { ConsultationOptions } from "./options.ts";

/** Case as the patient knows it. The doctor receives the complaint alone. */
export type PublicCase = {
  readonly complaint: string;
  readonly present: string[];
  readonly absent: string[];
};

/** Part for the judge. */
export type PrivateCase = {
  /** Number of the condition in {@link CONDITIONS}, from 1. Its name stands in the doctor's question, among others. */
  readonly condition: number;
};

/** Returns seeded cases. A case is a condition with some of its findings; equal cases are in one split. */
export function consultationTasks({
  conditions,
  task_seed: seed,
}: ConsultationOptions): TaskSource<PublicCase, PrivateCase> {
  const findings = findingsOf(conditions).map(({ name }) => name);
  return generatedTasks({
    seed,
    splits: { train: { size: 4096, share: 3 }, eval: { size: 256, share: 1 } },
    generate: (random) => {
      const condition = random.integer(1, conditions);
      const { always, sometimes } = CONDITIONS[condition - 1] as Condition;
      const has = new Set([...always, ...sometimes.filter(() => random.integer(0, 1) === 1)]);
      const present = findings.filter((each) => has.has(each));
      const absent = findings.filter((each) => !has.has(each));
      const complaint = random.pick(present);
      return {
        public: { complaint, present, absent },
        private: { condition },
        key: JSON.stringify([condition, present, complaint]),
      };
    },
  });
}
