import { PluginHost, type withStoredModels } from "@mrlm/runtime";
import type { EngineProvider, StoredModel } from "@mrlm/spec/host";
import type { CommandContext } from "../command-context.ts";
import type { Console } from "../console/console.ts";
import { duration } from "../console/numbers.ts";
import { progressBar } from "../console/progress-bar.ts";

/** Engine whose environment fetches and converts models where no configuration names one. */
export const ENGINE = "torch";

/** Brings a model of the hub or a GGUF file to this machine. */
export type FetchModel = Parameters<typeof withStoredModels>[1];

/** Models that an engine has brought to this machine. */
export type ModelStore = EngineProvider["models"];

/** Formats bytes in millions, without the unit. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

/**
 * Fetches or converts a model, with a line of progress, and prints its commit and licence.
 * @param weights whether those of a model of the hub are fetched
 */
export async function fetchModel(
  console: Console,
  models: ModelStore,
  name: string,
  weights = true,
): Promise<StoredModel> {
  const bar = progressBar(console, name, { isBrief: true });
  try {
    const model = await models.get(name, {
      weights,
      notice(line) {
        bar.clear();
        console.note(line);
      },
      progress: ({ done, total, seconds }) =>
        bar.update(Number(megabytes(done)), Number(megabytes(total)), `MB  ${duration(seconds)} left`),
    });
    const { commit, licence, bytes } = model;
    console.note(`model ${name}: commit ${commit.slice(0, 12)}, licence ${licence}, ${megabytes(bytes)} MB`);
    return model;
  } finally {
    bar.clear();
  }
}

/** Returns the function that fetches the models of `--model`, by the engine of the project. */
export function modelFetcher({ console, directory }: CommandContext): FetchModel {
  return async (name) => {
    const plugins = await PluginHost.discover({ directory });
    try {
      return await fetchModel(console, (await plugins.engine(ENGINE)).models, name);
    } finally {
      await plugins.close();
    }
  };
}
