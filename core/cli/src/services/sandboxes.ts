import type { PluginHost, RegistryEntry } from "@mrlm/runtime";
import { MrlmError, type SandboxLayers } from "@mrlm/spec";

const SANDBOX = "sandbox:";

/** Which walls each sandbox of these plugins has here. */
export async function sandboxLayers(
  plugins: PluginHost,
  ids: readonly string[] = plugins.registry.ids("sandbox"),
): Promise<SandboxLayers[]> {
  return Promise.all(ids.map(async (id) => (await plugins.service("sandbox", id, "mrlm")).layers()));
}

/** One line for people. */
export function describeLayers({ language, kind, active, missing, jailed }: SandboxLayers): string {
  const lacks = missing.map(({ layer, reason }) => `\n  without ${layer}: ${reason}`).join("");
  return `sandbox ${language} (${kind}): ${jailed ? "jailed" : "no operating-system jail"}; ${active.join(", ")}${lacks}`;
}

/** Rejects with SANDBOX_UNSAFE when one of the environments runs what a model wrote without a jail. */
export async function requireJails(plugins: PluginHost, environments: readonly string[]): Promise<void> {
  for (const environment of environments) {
    const languages = sandboxesOf(plugins.registry.entries, `environment:${environment}`).filter(
      (language) => plugins.registry.resolve("sandbox", language) !== undefined,
    );
    const open = (await sandboxLayers(plugins, languages)).find(({ jailed }) => !jailed);
    if (open === undefined) continue;
    const reason = open.missing.find(({ layer }) => layer === "bubblewrap")?.reason ?? "there is no jail for it";
    throw new MrlmError(
      "SANDBOX_UNSAFE",
      `${environment} runs ${open.language} that a model wrote, and here no operating-system jail holds it: ${reason}. Others could reach this server.`,
    );
  }
}

/** Languages whose sandbox something requires under some options, by itself or through what it requires. */
function sandboxesOf(entries: readonly RegistryEntry[], provision: string, seen = new Set<string>()): string[] {
  if (provision.startsWith(SANDBOX)) return [provision.slice(SANDBOX.length)];
  if (seen.has(provision)) return [];
  seen.add(provision);
  const entry = entries.find(({ provides }) => provides.includes(provision));
  return [...new Set((entry?.requires ?? []).flatMap((requirement) => sandboxesOf(entries, requirement, seen)))];
}
