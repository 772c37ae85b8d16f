import { MrlmError } from "@mrlm/kit";
import { HOST, type HarborOptions } from "./options.ts";
import type { HarborTask } from "./task/task.ts";

/** Returns the image of the provider for a task; `undefined` for the host's system folders. Throws OPTIONS_INVALID where `bases` has none. */
export function baseOf(
  { from, place }: Pick<HarborTask, "from" | "place">,
  { bases }: HarborOptions,
): string | undefined {
  const base = (Object.hasOwn(bases, from) ? bases[from] : undefined) ?? bases["*"];
  if (base === undefined)
    throw new MrlmError("OPTIONS_INVALID", `${place}: the image ${from} has no base in this project.`, {
      hint: `State one in \`bases\` of harbor@1: an image of the provider of workspaces, or the host's system folders, {"${from}": ${HOST}}..`,
    });
  return base === HOST ? undefined : base;
}
