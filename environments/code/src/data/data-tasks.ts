import { divide, listedTasks, readJsonl, type TaskSource } from "@mrlm/kit";
import type { CodeOptions } from "../options.ts";
import { sealed } from "../problem/problem.ts";
import { withVisibility } from "../problem/visibility.ts";
import { readerOf, recognise } from "./formats.ts";

/** Returns the problems of a file. All rows are checked before the first task is used. */
export async function dataTasks(data: NonNullable<CodeOptions["data"]>, options: CodeOptions): Promise<TaskSource> {
  const rows = await readJsonl(data.path, "data.path");
  const read = readerOf(
    data.format === "auto" ? recognise(rows[0] as (typeof rows)[number]) : data.format,
    options.language,
  );
  const tasks = rows.map((row) => {
    const task = read(row);
    return { ...task, question: task.public.question };
  });
  const { train, eval: held } = divide(tasks, data.eval_share, options.task_seed);
  return listedTasks({ train, eval: held }, ({ public: shown, problem }) =>
    sealed({
      public: shown,
      problem: { ...problem, tests: withVisibility<never>(problem.tests as never, options.visible_tests) },
    }),
  );
}
