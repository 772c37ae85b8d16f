import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { divide, type EnvironmentContext, listedTasks, MrlmError, type TaskSource } from "@mrlm/kit";
import { fileFault } from "@mrlm/kit/service";
import { baseOf } from "./base.ts";
import type { HarborOptions } from "./options.ts";
import { invalidTask, isMissing } from "./task/place.ts";
import { type HarborTask, readTask } from "./task/task.ts";

/** Public part of a task. */
export interface Shown extends Record<string, string> {
  readonly name: string;
  readonly instruction: string;
}

/** Private part of a task: its folder, in which the tests and the solution are. */
export interface Hidden extends Record<string, string> {
  readonly folder: string;
}

/**
 * Returns the tasks of the folders. All of them are checked before the first is used. Tasks with the same instructions are in the same split.
 * @throws DATA_INVALID, with file and line, for a task that is malformed; OPTIONS_INVALID for an image without a base
 */
export async function harborTasks(
  context: EnvironmentContext,
  options: HarborOptions,
): Promise<TaskSource<Shown, Hidden>> {
  const folders = [options.tasks].flat().map((path) => context.dataPath(path));
  const rows: { readonly question: string; readonly task: HarborTask }[] = [];
  for (const folder of folders)
    for (const each of await taskFolders(folder)) {
      const task = await readTask(each);
      baseOf(task, options);
      rows.push({ question: task.steps.map(({ instruction }) => instruction).join("\n"), task });
    }
  return listedTasks({ ...divide(rows, options.eval_share, options.task_seed) }, ({ task }) => ({
    public: { name: task.name, instruction: task.steps[0].instruction },
    private: { folder: task.folder },
  }));
}

/** Returns the folder itself if it is a task, else the tasks in it in the order of their names. */
async function taskFolders(folder: string): Promise<string[]> {
  if (await has(folder, "task.toml")) return [folder];
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw invalidTask(folder, `the folder cannot be read: ${fileFault(error)}`);
  });
  const tasks: string[] = [];
  for (const name of names.toSorted()) if (await has(join(folder, name), "task.toml")) tasks.push(join(folder, name));
  if (tasks.length > 0) return tasks;
  throw new MrlmError("DATA_INVALID", `${folder} has no task: neither it nor a folder in it has the file task.toml.`, {
    hint: "`tasks` names a folder of tasks, a task, or a list of them. `mrlm create harbor-task NAME` makes one.",
  });
}

async function has(folder: string, name: string): Promise<boolean> {
  return (await stat(join(folder, name)).catch(() => undefined))?.isFile() === true;
}
