import { type Logger, MrlmError, type ToolDefinition } from "@mrlm/spec";
import { logFault } from "@mrlm/server/sessions";
import type { Catalogue } from "./catalogue.ts";
import type { Route } from "./dialect.ts";

/** Longest wait for the first observation of an environment. */
const WAIT_MS = 10_000;

/** Throws TOOL_CONFLICT if an environment has a tool with a name that a protocol uses. */
export function refuseTakenName(
  environment: string,
  tools: readonly ToolDefinition[],
  taken: { readonly names: ReadonlySet<string>; readonly use: string; readonly hint: string },
): void {
  const conflict = tools.find(({ name }) => taken.names.has(name));
  if (conflict === undefined) return;
  const message = `Environment ${environment} has a tool with the name "${conflict.name}", which ${taken.use}.`;
  throw new MrlmError("TOOL_CONFLICT", message, { hint: taken.hint });
}

/**
 * Refuses environments with a tool whose name is a route, where each tool is a route too. Rejects with TOOL_CONFLICT. An environment that does not begin in
 * ten seconds, or fails, is logged and not checked.
 */
export async function checkToolNames(
  environments: readonly string[],
  routes: readonly Route[],
  { catalogue, logger }: { readonly catalogue: Catalogue; readonly logger: Logger },
): Promise<void> {
  const taken = new Set(routes.filter(({ method }) => method === "POST").map(({ path }) => path.slice(1)));
  const waited = new Promise<void>((resolve) => setTimeout(resolve, WAIT_MS).unref());
  await Promise.all(
    environments.map(async (environment) => {
      const tools = await Promise.race([catalogue.tools(environment), waited]).catch((error: unknown) => {
        if (!MrlmError.hasCode(error, "ROLES_UNSUPPORTED")) logFault(logger, error);
      });
      refuseTakenName(environment, tools ?? [], {
        names: taken,
        use: "is a route of a protocol of this port",
        hint: "Rename the tool by an option of its plugin, or leave the protocol nemo-gym out (--dialects).",
      });
    }),
  );
}
