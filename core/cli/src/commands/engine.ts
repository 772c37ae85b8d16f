import { defined } from "@mrlm/spec";
import { PluginHost } from "@mrlm/runtime";
import type { CommandContext } from "../command-context.ts";
import type { SetupOptions } from "../declarations/engine.ts";

/** Installs the engine's environment; quick when it is complete. */
export async function setUpEngine(
  { console, directory }: CommandContext,
  { engine, extra, torchIndex }: SetupOptions,
): Promise<void> {
  const plugins = await PluginHost.discover({ directory });
  try {
    const provider = await plugins.engine(engine);
    const installation = await provider.setup({
      progress: (line) => console.note(line),
      ...defined({ extras: extra }),
      ...(torchIndex === undefined ? {} : { options: { torch_index: torchIndex } }),
    });
    console.print(`${installation.changed ? "set up" : "already set up"}: ${installation.executable}`);
    console.emit({ event: "engine", ...installation, versions: { ...installation.versions } });
  } finally {
    await plugins.close();
  }
}
