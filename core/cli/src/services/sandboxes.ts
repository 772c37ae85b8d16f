import type { ClientSandbox } from "@mrlm/dialects";
import type { Tokens } from "@mrlm/kit/access";
import { type PluginHost, requiredSandboxes } from "@mrlm/runtime";
import { type Logger, MrlmError } from "@mrlm/spec";
import type { SandboxLayers } from "@mrlm/spec/host";

/** Returns the isolation layers of each sandbox on this machine. */
export async function sandboxLayers(
  plugins: PluginHost,
  ids: readonly string[] = plugins.registry.ids("sandbox"),
): Promise<SandboxLayers[]> {
  return Promise.all(ids.map(async (id) => (await plugins.service("sandbox", id, "mrlm")).layers()));
}

/** Formats the isolation layers of a sandbox for people. */
export function describeLayers({ language, kind, active, missing, jailed }: SandboxLayers): string {
  const lacks = missing.map(({ layer, reason }) => `\n  without ${layer}: ${reason}`).join("");
  return `sandbox ${language} (${kind}): ${jailed ? "jailed" : "no operating-system jail"}; ${active.join(", ")}${lacks}`;
}

/** Rejects with SANDBOX_UNSAFE if one of the environments runs code of a model without a jail. */
export async function requireJails(plugins: PluginHost, environments: readonly string[]): Promise<void> {
  for (const environment of environments) {
    const languages = requiredSandboxes(plugins.registry.entries, `environment:${environment}`).filter(
      (language) => plugins.registry.resolve("sandbox", language) !== undefined,
    );
    const open = (await sandboxLayers(plugins, languages)).find(({ jailed }) => !jailed);
    if (open === undefined) continue;
    const reason = open.missing.find(({ layer }) => layer === "bubblewrap")?.reason ?? "there is no jail for it";
    throw new MrlmError(
      "SANDBOX_UNSAFE",
      `${environment} runs ${open.language} code that a model wrote, and no operating-system jail isolates it on this machine: ${reason}. Other machines could reach this server.`,
    );
  }
}

/**
 * Returns the sandboxes by language in which clients of the HTTP port may run programs. Rejects with SANDBOX_UNSAFE if one has no jail and must have one; where
 * the operator did not name the dialect, such sandboxes are left out with a warning.
 */
export async function sandboxesOfClients(
  plugins: PluginHost,
  runsCode: "named" | "default" | undefined,
  server: {
    readonly mustBeJailed: boolean;
    /** Whether other machines reach the server. */
    readonly isPublic?: boolean;
    readonly logger: Logger;
    /** Ids of the environments of the server. */
    readonly environments: readonly string[];
    readonly tokens?: Tokens;
  },
): Promise<Record<string, ClientSandbox>> {
  if (runsCode === undefined) return {};
  const { mustBeJailed, isPublic = false, logger, environments, tokens } = server;
  const dialects = await import("@mrlm/dialects");
  const languages = plugins.registry.ids("sandbox");
  const used = new Set(environments.flatMap((id) => requiredSandboxes(plugins.registry.entries, `environment:${id}`)));
  const sandboxes: Record<string, ClientSandbox> = {};
  for (const language of languages) {
    const sandbox = await plugins.service("sandbox", language, "mrlm");
    if (mustBeJailed && !(await sandbox.layers()).jailed) {
      const error = new MrlmError(
        "SANDBOX_UNSAFE",
        `Clients of /run_code could run ${language} code, and no operating-system jail isolates it on this machine.`,
        { hint: "Leave sandbox-fusion out of --dialects, or start with --unsafe-sandbox." },
      );
      if (runsCode === "named") throw error;
      logger.warn(`Programs in ${language} are not served: ${error.message}`);
    } else
      sandboxes[sandbox.language] = new dialects.ClientSandbox(sandbox, {
        isShared: used.has(language),
        // Without tokens a client is an address: all clients of one machine are one, and others may come at any time.
        clientCount: () => tokens?.names.length ?? (isPublic ? Infinity : 1),
      });
  }
  return sandboxes;
}
