import type { CommandContext } from "../command-context.ts";
import type { ServeOptions } from "../declarations/serve.ts";

/** Serves environments or policies. Loads the code of either alone. */
export async function serve(context: CommandContext, options: ServeOptions): Promise<void> {
  if ((options.model ?? options.engine ?? options.engineTokenFile) === undefined) {
    const { serveEnvironmentHost } = await import("./serve-environments.ts");
    await serveEnvironmentHost(context, options);
  } else {
    const { servePolicyModels } = await import("./serve-policies.ts");
    await servePolicyModels(context, options);
  }
}
