import { PluginHost } from "@mrlm/runtime";
import type { CommandModule } from "../command.ts";

interface SetupOptions {
  readonly engine: string;
  readonly extra?: string[];
  readonly torchIndex?: string;
}

/** `mrlm engine setup`: installs what the engine needs; quick when nothing changed. */
export const engineCommand: CommandModule = (program, start) => {
  program
    .command("engine")
    .description("the engine that holds and trains models")
    .command("setup")
    .description("install the engine's Python environment, or find it complete")
    .option("--engine <id>", "which engine", "torch")
    .option("--extra <name...>", "optional parts: lora, dev")
    .option("--torch-index <url>", "package index to take torch from")
    .action(async ({ engine, extra, torchIndex }: SetupOptions) => {
      const { console, directory } = start();
      const plugins = await PluginHost.discover({ directory });
      try {
        const provider = await plugins.engine(engine);
        const installation = await provider.setup({
          progress: (line) => console.note(line),
          ...(extra === undefined ? {} : { extras: extra }),
          ...(torchIndex === undefined ? {} : { options: { torch_index: torchIndex } }),
        });
        console.print(`${installation.changed ? "set up" : "already set up"}: ${installation.executable}`);
        console.emit({ event: "engine", ...installation, versions: { ...installation.versions } });
      } finally {
        await plugins.close();
      }
    });
};
