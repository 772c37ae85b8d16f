import assert from "node:assert/strict";
import type { TaskSource } from "@mrlm/spec";
import { textMessage } from "@mrlm/kit";
import type { EnvironmentCheck } from "./environment-check.ts";
import { expectCode } from "./expect-code.ts";
import { serialise } from "./serialise.ts";
import { never, withSession } from "./play.ts";
import type { Subject } from "./subject.ts";
import { CANARY } from "./watched-definition.ts";

/** Number of tasks of each split that are played. */
const PLAYED = 4;

/** Checks of tasks: equal for equal indices, none beyond the splits, no private part at a client. */
export const taskChecks: readonly EnvironmentCheck[] = [
  {
    code: "TASKS_UNSTABLE",
    name: "tasks: a train and an eval split, and the same index is the same task",
    run: (subject) =>
      withTasks(subject, async (tasks) => {
        for (const split of ["train", "eval"])
          assert(Object.hasOwn(tasks.splits, split), `There is no split "${split}".`);
        for (const { split, index } of sample(tasks, PLAYED)) {
          const [first, second] = [await tasks.get(split, index), await tasks.get(split, index)];
          assert.equal(first.id, `${split}/${index}`, "A task's id is its split and index.");
          assert.equal(serialise(first), serialise(second), `Task ${split}/${index} is not the same twice.`);
        }
        for (const [split, size] of Object.entries(tasks.splits))
          await expectCode(tasks.get(split, size), "TASK_NOT_FOUND");
        await expectCode(tasks.get("no-such-split", 0), "TASK_NOT_FOUND");
      }),
  },
  {
    code: "TASK_ACCEPTED",
    name: "tasks: one that does not exist is refused",
    run: (subject) =>
      withSession(subject, undefined, async (session) => {
        const has = subject.definition.tasks !== undefined;
        await expectCode(
          session.reset({ task: "train/999999999999", signal: never }),
          has ? "TASK_NOT_FOUND" : "TASK_NOT_SUPPORTED",
        );
        await expectCode(
          session.reset({ task: "nonsense", signal: never }),
          has ? "TASK_NOT_FOUND" : "TASK_NOT_SUPPORTED",
        );
      }),
  },
  {
    code: "TASK_PRIVATE_SHOWN",
    name: "private fields of tasks reach no client",
    run: async (subject) => {
      const shown = [serialise(await subject.host.list()), serialise(await subject.describe())];
      await withTasks(subject, async (tasks) => {
        for (const { split, index } of sample(tasks, PLAYED)) {
          const id = `${split}/${index}`;
          const seen = [...shown, ...(await whatAClientSees(subject, id))];
          assert(!seen.some((text) => text.includes(CANARY)), `Task ${id} shows its whole private part to the client.`);
        }
      });
    },
  },
  {
    code: "DEMONSTRATION_INVALID",
    name: "demonstrations are given for training tasks and refused for others",
    run: async (subject) => {
      const tasks = await subject.tasks();
      const splits = Object.entries(tasks?.splits ?? {}).filter(([, size]) => size > 0);
      for (const [split] of splits) {
        const asked = subject.host.demonstrate(subject.ref(), [`${split}/0`]);
        if (split !== "train" || subject.definition.demonstrate === undefined)
          await expectCode(asked, "DEMONSTRATION_REFUSED");
        else {
          const [demonstration] = await asked;
          assert.equal(demonstration?.task, "train/0", "A demonstration is of the task that was asked for.");
          assert(
            demonstration.messages.some(({ role }) => role === "assistant"),
            "A demonstration has nothing to learn: no message of role assistant.",
          );
          assert(!serialise(demonstration).includes(CANARY), "A demonstration shows the private side of its task.");
        }
      }
    },
  },
];

async function withTasks(subject: Subject, check: (tasks: TaskSource) => Promise<void>): Promise<void> {
  const tasks = await subject.tasks();
  if (tasks !== undefined) await check(tasks);
}

/** Returns the first tasks of each split. */
function sample(tasks: TaskSource, count: number): { split: string; index: number }[] {
  return Object.entries(tasks.splits).flatMap(([split, size]) =>
    Array.from({ length: Math.min(size, count) }, (_, index) => ({ split, index })),
  );
}

/** Returns all observations and step results of an episode whose responses are empty. */
async function whatAClientSees(subject: Subject, task: string): Promise<string[]> {
  return withSession(subject, undefined, async (session) => {
    let observation = await session.reset({ task, signal: never });
    const seen = [serialise(observation)];
    while (observation.agent !== "" && seen.length < 20) {
      const step = await session.step(
        { agent: observation.agent, message: textMessage("assistant", "?"), finishReason: "stop" },
        { signal: never },
      );
      seen.push(serialise(step));
      observation = step.observation;
    }
    return seen;
  });
}
