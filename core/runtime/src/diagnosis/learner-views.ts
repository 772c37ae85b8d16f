import { OUT_OF_RANGE } from "../rollouts/reward-watch.ts";
import type { StageRecord } from "./run-record.ts";

/** Stage with the metrics of one of its learners under the names that the only learner of a stage has. */
export interface LearnerView {
  /** Absent where the stage has one learner. */
  readonly policy?: string;
  readonly stage: StageRecord;
}

/** Returns the stage once for each of its learners, so that each rule examines one policy. */
export function learnerViews(stage: StageRecord): LearnerView[] {
  const learners = Object.entries(stage.learners ?? {});
  if (learners.length < 2) return [{ stage }];
  return learners.map(([policy, algorithm]) => ({
    policy,
    stage: {
      ...stage,
      algorithm,
      iterations: stage.iterations.map((each) => ({ ...each, metrics: ofPolicy(each.metrics, policy) })),
    },
  }));
}

function ofPolicy(metrics: Readonly<Record<string, number>>, policy: string): Record<string, number> {
  const prefix = `${policy}/`;
  return Object.fromEntries(
    Object.entries(metrics).flatMap(([name, value]) =>
      name.startsWith(prefix)
        ? [[name.slice(prefix.length), value]]
        : // It is of the batch, which all learners share.
          name === OUT_OF_RANGE
          ? [[name, value]]
          : [],
    ),
  );
}
