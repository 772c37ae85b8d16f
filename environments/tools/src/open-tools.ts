import { type EnvironmentContext, MrlmError, type Task, type Tool } from "@mrlm/kit";
import { baseName, type ToolsOptions } from "./options.ts";
import { hiddenOf, shownOf } from "./task.ts";

/** Open tools of an episode. A toolset may replace its tools between two turns. */
export interface OpenTools {
  readonly tools: readonly Tool[];
}

/**
 * Opens the toolsets for a task.
 * @throws DATA_INVALID if the task requires a tool that none of them has
 */
export async function openTools(
  context: EnvironmentContext,
  { toolsets }: ToolsOptions,
  task: Task,
  { seed, signal }: { readonly seed: number | null; readonly signal: AbortSignal },
): Promise<OpenTools> {
  const { files = {}, site } = hiddenOf(task);
  const opened = await Promise.all(
    toolsets.map((id) =>
      context.tools(id).open({
        task: { id: task.id, public: task.public },
        seed,
        files: baseName(id) === "web" ? (site ?? files) : files,
        signal,
      }),
    ),
  );
  const open = {
    get tools() {
      return opened.flatMap(({ tools }) => tools);
    },
  };
  assertRequired(task, open.tools);
  return open;
}

/** A misspelt requirement would make the full reward impossible. */
function assertRequired(task: Task, tools: readonly Tool[]): void {
  const names = tools.map(({ name }) => name);
  for (const required of shownOf(task).required_tools ?? []) {
    const choice = typeof required === "string" ? [required] : required;
    if (!choice.some((name) => names.includes(name)))
      throw new MrlmError(
        "DATA_INVALID",
        `Task ${task.id} requires the tool ${choice.map((name) => JSON.stringify(name)).join(" or ")}, which no toolset has.`,
        { hint: `The toolsets have ${names.join(", ")}. Correct \`required_tools\` of the row, or add a toolset.` },
      );
  }
}
