import { type Action, type Fixture, type Message, roleOf, type TaskId } from "@mrlm/spec";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { leavesOf } from "../contract/leaves.ts";
import { never, playFixture, withSession } from "../contract/play.ts";
import { goldFixture } from "../contract/probe-episode.ts";
import { serialise } from "../contract/serialise.ts";
import type { Subject } from "../contract/subject.ts";

/** Number of tasks of each split that are compared, and the time for them in milliseconds. */
const COMPARED = 2_000;
const COMPARED_MS = 1_500;
/** Number of pairs that read alike whose gold answers are compared, and the time for them in milliseconds. */
const SOLVED = 50;
const SOLVED_MS = 1_000;
/** Number of tasks that read alike in one split which are compared with one of another. */
const ALIKE = 3;

/** Task, as a model reads it. */
interface ReadTask {
  readonly id: TaskId;
  readonly split: string;
  /** Words of the first observation in lower case and in order. */
  readonly words: string;
  /** First observation and private part, as they are. */
  readonly first: string;
  readonly hidden: string;
}

/** Check that no two splits have a task that reads alike and has the same answer. */
export const overlapChecks: readonly EnvironmentCheck[] = [
  {
    code: "TASKS_OVERLAP",
    name: "tasks: splits do not overlap",
    run: async (subject) => {
      const gold = goldFixture(subject);
      const tasks = await readTasks(subject, gold);
      const byWords = Map.groupBy(tasks, ({ words }) => words);
      const deadline = performance.now() + SOLVED_MS;
      const equal: (readonly [ReadTask, ReadTask])[] = [];
      let compared = 0;
      for (const alike of byWords.values()) {
        const [first] = alike;
        const others = alike.filter(({ split }) => split !== first?.split);
        for (const other of others) {
          if (compared++ >= SOLVED || performance.now() > deadline) break;
          for (const one of alike.filter(({ split }) => split === first?.split).slice(0, ALIKE))
            if (await isEqual(subject, gold, one, other)) {
              equal.push([one, other]);
              break;
            }
        }
      }
      const [pair] = equal;
      if (pair === undefined) return;
      const [one, other] = pair;
      const inSplit = (all: readonly ReadTask[], of: string): number => all.filter(({ split }) => split === of).length;
      const [own, others] = [inSplit(tasks, one.split), inSplit(tasks, other.split)];
      const same = inSplit(
        equal.map(([, each]) => each),
        other.split,
      );
      const least = compared > SOLVED || performance.now() > deadline ? "or more " : "";
      throw new Defect(
        "TASKS_OVERLAP",
        `Task ${other.id} is also ${one.id}: their first observations have the same words, and the gold actions of each solve the other. So it is with ${same} ${least}of ${others} compared tasks of ${other.split} (${Math.round((100 * same) / others)} %), among ${own} of ${one.split}.`,
      );
    },
  },
];

/** Reads the first observations of tasks, by turns of each split, as many as the time allows. */
async function readTasks(subject: Subject, gold: Fixture | undefined): Promise<ReadTask[]> {
  const source = await subject.tasks();
  const splits = Object.entries(source?.splits ?? {});
  const read: ReadTask[] = [];
  if (source === undefined || splits.length < 2) return read;
  const deadline = performance.now() + COMPARED_MS;
  const seed = await seedOf(subject, gold);
  await withSession(subject, undefined, async (session) => {
    const largest = Math.min(COMPARED, Math.max(...splits.map(([, size]) => size)));
    for (let index = 0; index < largest && performance.now() < deadline; index++)
      for (const [split, size] of splits) {
        if (index >= size) continue;
        const id = `${split}/${index}`;
        // Another check reports why an episode does not start.
        const first = await session.reset({ ...seed, task: id, signal: never }).catch(() => undefined);
        if (first === undefined) continue;
        const { private: hidden } = await source.get(split, index);
        read.push({
          id,
          split,
          words: wordsOf(first.messages).toSorted().join(" "),
          first: serialise(first.messages),
          hidden: serialise(hidden),
        });
      }
  });
  return read;
}

/** Returns the words and operators of messages in lower case. */
function wordsOf(messages: readonly Message[]): readonly string[] {
  const text = [...leavesOf(messages).values()].join(" ");
  return text.toLowerCase().match(/[\p{L}\p{N}]+|[\p{S}*/%-]/gu) ?? [];
}

/** Returns the seed of all episodes, which an observation can depend on. */
async function seedOf(subject: Subject, gold: Fixture | undefined): Promise<{ readonly seed?: number }> {
  const { determinism } = await subject.describe();
  return determinism === "none" ? {} : { seed: gold?.seed ?? 1 };
}

/** Episode of the gold fixture, or with the same actions in another task. */
interface Solution {
  readonly actions: readonly Action[];
  /** Words of the observations of each turn. */
  readonly seen: readonly (readonly string[])[];
}

/** Whether two tasks that read alike are one: the gold actions of each solve the other, with the same observations. Where the gold fixture solves one task only, they must be equal. */
async function isEqual(subject: Subject, gold: Fixture | undefined, one: ReadTask, other: ReadTask): Promise<boolean> {
  const own = gold && (await solve(subject, gold, one.id));
  const others = own && (await solve(subject, gold, other.id));
  if (own === undefined || others === undefined) return one.first === other.first && one.hidden === other.hidden;
  const isSame = async ({ actions, seen }: Solution, task: TaskId): Promise<boolean> => {
    const solution = await solve(subject, gold as Fixture, task, actions);
    return solution !== undefined && serialise(solution.seen) === serialise(seen);
  };
  return (await isSame(own, other.id)) && isSame(others, one.id);
}

/** Plays the gold fixture, or given actions, in a task. Returns `undefined` where they do not earn the gold reward. */
async function solve(
  subject: Subject,
  gold: Fixture,
  task: TaskId,
  given?: readonly Action[],
): Promise<Solution | undefined> {
  const actions: Action[] = [];
  const fixture = { ...gold, ...(await seedOf(subject, gold)), task };
  const change = (action: Action, { length: turn }: readonly unknown[]): Action => {
    const own = given === undefined ? action : given[turn];
    if (own === undefined) throw new Error("This task takes more turns.");
    actions.push(own);
    return own;
  };
  try {
    const { totals, steps, acted } = await withSession(subject, gold.options, (session) =>
      playFixture(subject, fixture, session, change),
    );
    const { reward = 0 } = gold;
    const isReward = (total = 0, expected = 0): boolean => Math.abs(total - expected) <= 1e-9;
    const isGold =
      typeof reward === "number"
        ? acted.every((agent) => gold.players?.[roleOf(agent)] !== undefined || isReward(totals[agent], reward))
        : Object.entries(reward).every(([agent, expected]) => isReward(totals[agent], expected));
    const seen = steps.map(({ observation }) => wordsOf(observation.messages));
    return isGold ? { actions, seen } : undefined;
  } catch {
    return undefined;
  }
}
