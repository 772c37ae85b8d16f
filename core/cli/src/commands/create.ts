import { create } from "create-mrlm";
import type { CommandContext } from "../command-context.ts";
import type { CreateOptions } from "../declarations/create.ts";

/** Creates the project of a plugin, and prints the next commands. */
export async function createPlugin(
  { console, directory }: CommandContext,
  kind: string | undefined,
  name: string | undefined,
  options: CreateOptions,
): Promise<void> {
  const created = await create({ kind, name, ...options }, directory);
  const { id, folder, files, kept } = created;
  console.print(created.report);
  console.emit({ event: "created", kind: created.kind, id, directory: folder, files: [...files], kept: [...kept] });
}
