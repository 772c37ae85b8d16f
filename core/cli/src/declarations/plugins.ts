import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import type * as Plugins from "../commands/plugins.ts";

/** Declares the commands of `mrlm plugins`. */
export function declarePlugins(program: Command, context: () => CommandContext): void {
  const plugins = program.command("plugins").description("find, install, list and remove plugins");
  const commands = (): Promise<typeof Plugins> => import("../commands/plugins.ts");
  plugins
    .command("search")
    .description("list the plugins of your npm registry that match all words")
    .argument("[words...]", "words of its name, description or keywords; default: all plugins")
    .action(async (words: readonly string[]) => (await commands()).searchPlugins(context(), words));
  plugins
    .command("add")
    .description("describe a plugin of the registry, and install it after a confirmation")
    .argument("<name>", "name of the package, with a version or without: mrlm-chess, mrlm-chess@1.2.0")
    .option("--yes", "install it without a question")
    .option("--scripts", "run the install scripts of the package and its dependencies")
    .action(async (name: string, args: Plugins.AddArguments) => (await commands()).addPlugin(context(), name, args));
  plugins
    .command("list")
    .description("list the plugins among the direct dependencies of the project")
    .option("--why", "with their places, requirements and faults, and what was skipped and why")
    .action(async (args: { why?: boolean }) => (await commands()).listPlugins(context(), args));
  plugins
    .command("remove")
    .description("remove a plugin from the project")
    .argument("<name>", "name of the package")
    .action(async (name: string) => (await commands()).removePlugin(context(), name));
}
