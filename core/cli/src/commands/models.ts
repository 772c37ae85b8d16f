import { PluginHost } from "@mrlm/runtime";
import type { StoredModel } from "@mrlm/spec/host";
import type { CommandContext } from "../command-context.ts";
import { count } from "../console/numbers.ts";
import { table } from "../console/table.ts";
import { ENGINE, fetchModel, megabytes, type ModelStore } from "../services/stored-models.ts";

/** Fetches or converts a model, and prints its directory. */
export async function getModel(context: CommandContext, name: string): Promise<void> {
  await withModels(context, async (models) => {
    const model = await fetchModel(context.console, models, name);
    context.console.print(model.directory);
    emit(context, [model]);
  });
}

/** Prints the models that were fetched or converted. */
export async function listModels(context: CommandContext): Promise<void> {
  await withModels(context, async (models) => {
    const found = await models.list();
    if (found.length === 0)
      context.console.note("note: no model was fetched or converted yet (`mrlm models get NAME`)");
    else
      context.console.print(
        table([
          ["model", "revision", "commit", "licence", "MB", "directory"],
          ...found.map(({ name, revision, commit, licence, bytes, directory }) => [
            name,
            revision,
            commit.slice(0, 12),
            licence,
            megabytes(bytes),
            directory,
          ]),
        ]),
      );
    emit(context, found);
  });
}

/** Deletes the files of a model that was fetched or converted. */
export async function removeModel(context: CommandContext, name: string): Promise<void> {
  await withModels(context, async (models) => {
    const removed = await models.remove(name);
    const freed = new Map(removed.map(({ directory, bytes }) => [directory, bytes]));
    const sum = [...freed.values()].reduce((all, bytes) => all + bytes, 0);
    context.console.print(`removed ${count(freed.size, "model")} of ${megabytes(sum)} MB`);
    emit(context, removed);
  });
}

async function withModels({ directory }: CommandContext, work: (models: ModelStore) => Promise<void>): Promise<void> {
  const plugins = await PluginHost.discover({ directory });
  try {
    await work((await plugins.engine(ENGINE)).models);
  } finally {
    await plugins.close();
  }
}

function emit({ console }: CommandContext, models: readonly StoredModel[]): void {
  for (const model of models) console.emit({ event: "model", ...model });
}
