import { create, type CreateArguments } from "create-mrlm";
import type { CommandContext } from "../command-context.ts";

/** Options of `mrlm create`; kind and name are its arguments. */
export type CreateOptions = Pick<CreateArguments, "from" | "merge" | "install">;

/** Creates the project of a plugin, and prints the next commands. */
export async function createPlugin({ console, directory }: CommandContext, args: CreateArguments): Promise<void> {
  const { report, kind, id, folder, files, kept } = await create(args, directory);
  console.print(report);
  console.emit({ event: "created", kind, id, directory: folder, files: [...files], kept: [...kept] });
}
