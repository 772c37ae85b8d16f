import { randomStream } from "@mrlm/kit";
import { score, type TrainingEnvironment, type TrajectoryGroup } from "@mrlm/spec";
import { curriculumSection } from "../../src/config/sections/stages.ts";
import type { CurriculumSettings } from "../../src/play/curriculum/task-pool.ts";
import { Curriculum } from "../../src/play/curriculum/curriculum.ts";
import { type TaskOrder, type TaskPosition, trainOrders } from "../../src/play/task-order.ts";

export interface CurriculumShape {
  readonly seed?: number;
  /** Number of tasks and weight of each environment. */
  readonly environments: readonly { readonly size: number; readonly weight?: number }[];
  readonly settings?: Partial<CurriculumSettings>;
  readonly groups: number;
  readonly ahead?: number;
}

const MEMBERS = 8;
const PLAYER = { kind: "policy", name: "policy", policy: "policy" } as const;

export function curriculumOrder({ seed = 3, environments, settings, groups, ahead }: CurriculumShape): TaskOrder {
  const all = environments.map(({ size, weight = 1 }, i): TrainingEnvironment => ({
    ref: { id: `e${i}@1` },
    weight,
    splits: { train: size },
    orderedSplits: [],
    hasDemonstrations: false,
    determinism: "full",
    demonstrate: async () => [],
  }));
  return new Curriculum(all, trainOrders(all, "test", seed), {
    settings: { ...curriculumSection.parse({}), ...settings } as CurriculumSettings,
    groups,
    ...(ahead !== undefined && { ahead }),
  });
}

/** Returns the environment and the index of the next tasks. */
export function drawTasks(order: TaskOrder, count: number): (readonly [number, number])[] {
  return order
    .take(count)
    .flatMap(({ environment, tasks }) => tasks.map((task) => [environment, Number(task.split("/")[1])] as const));
}

/** Returns a group of a task whose members pass with some probability. */
export function groupOf(
  [environment, task]: readonly [number, number],
  rate: number,
  draw: number,
  level?: number,
): TrajectoryGroup {
  const random = randomStream(`${environment}/${task}/${draw}`, 5);
  const id = `0/test/${draw}/e${environment}@1/e${environment}@1/train/${task}`;
  const trajectories = Array.from({ length: MEMBERS }, () => ({
    turns: level === undefined ? [] : [{ difficulty: level }],
    agents: { agent: { player: PLAYER, total: score(random.next() < rate ? 1 : 0) } },
  }));
  return { id, task: `train/${task}`, players: {}, trajectories } as unknown as TrajectoryGroup;
}

/** Returns a position as a checkpoint restores it. */
export function saved(position: TaskPosition): TaskPosition {
  return JSON.parse(JSON.stringify(position)) as TaskPosition;
}
