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
      iterations: stage.iterations.map((each) => ({
        ...each,
        metrics: {
          ...ofPolicy(each.metrics, policy),
          ...sumOfOthers(
            each.metrics,
            Object.keys(stage.learners ?? {}).filter((other) => other !== policy),
          ),
        },
      })),
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

/** Counts of the other learners of a stage, as metrics of a learner's view. */
export const OTHERS = "others/";

function sumOfOthers(metrics: Readonly<Record<string, number>>, others: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    ["episodes/unscored", "episodes/played", "agents/played"].map((name) => [
      `${OTHERS}${name}`,
      others.reduce((sum, other) => sum + (metrics[`${other}/${name}`] ?? 0), 0),
    ]),
  );
}

const ROLE_REWARD = /^reward\/([A-Za-z0-9_-]+)\/(.+)$/;
/** Games against the policy itself or its past versions: a role's reward states nothing about progress. */
const MOVING_OPPONENT = /^wins\/[A-Za-z0-9_-]+\/(policy|past)$/;

/** Stage with the rewards of one role under the names of the only role: `reward/mean`. */
interface RoleView {
  /** Absent where rewards are not by role. */
  readonly role?: string;
  readonly stage: StageRecord;
}

/** Returns the stage once for each role whose rewards are measured apart, so that each rule examines one role. */
export function roleViews(stage: StageRecord): RoleView[] {
  const names = new Set(stage.iterations.flatMap(({ metrics }) => Object.keys(metrics)));
  const roles = new Set(
    [...names].flatMap((name) => (name.endsWith("/mean") ? (ROLE_REWARD.exec(name)?.[1] ?? []) : [])),
  );
  if (roles.size === 0) return [{ stage }];
  return [...roles].map((role) => ({
    role,
    stage: { ...stage, iterations: stage.iterations.map((each) => ({ ...each, metrics: ofRole(each.metrics, role) })) },
  }));
}

function ofRole(metrics: Readonly<Record<string, number>>, wanted: string): Record<string, number> {
  return Object.fromEntries(
    Object.entries(metrics).flatMap(([name, value]): [string, number][] => {
      const [, role, rest] = ROLE_REWARD.exec(name) ?? [];
      return role === undefined ? [[name, value]] : role === wanted ? [[`reward/${rest}`, value]] : [];
    }),
  );
}

/** Whether the policy plays a zero-sum game against itself or its past versions. */
export function isAgainstItself({ iterations }: StageRecord): boolean {
  return iterations.some(({ metrics }) => Object.keys(metrics).some((name) => MOVING_OPPONENT.test(name)));
}
