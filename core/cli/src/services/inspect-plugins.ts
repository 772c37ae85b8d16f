import type { EngineInstallation, SandboxLayers } from "@mrlm/spec/host";
import { faultOfEnd, faultOfOutput, type PluginFault } from "./plugin-fault.ts";
import { pluginProcess } from "./plugin-process.ts";

/** Input of inspect-worker.ts. */
export interface InspectRequest {
  /** Folder of the project whose plugins are inspected. */
  readonly directory: string;
  readonly config?: { readonly path: string; readonly set: readonly string[] };
  /** Names of plugins that have been inspected, or ended the process. */
  readonly skip: readonly string[];
  /** Also asks engines for their installation, and sandboxes for their layers. */
  readonly details: boolean;
}

/** Message of inspect-worker.ts. */
export type InspectMessage = { readonly plugin: string; readonly nextMs?: number } & (
  | { readonly event: "started" | "ended" }
  | { readonly event: "fault"; readonly fault: PluginFault }
  | { readonly event: "engine"; readonly id: string; readonly installation?: EngineInstallation }
  | { readonly event: "sandbox"; readonly layers: SandboxLayers }
);

/** Result of the inspection of plugins. */
export interface Inspection {
  /** Faults by the name of the plugin; none for a plugin that can be used. */
  readonly faults: ReadonlyMap<string, readonly PluginFault[]>;
  readonly engines: readonly { readonly id: string; readonly installation: EngineInstallation | undefined }[];
  readonly sandboxes: readonly SandboxLayers[];
}

/**
 * Imports the plugins of a project in a process of their own, and returns what is wrong with each. A plugin that throws, blocks, ends the process, prints
 * without end or changes globals affects neither this process nor the inspection of the others.
 */
export async function inspectPlugins(
  options: Omit<InspectRequest, "skip" | "details"> & { readonly details?: boolean },
): Promise<Inspection> {
  const faults = new Map<string, PluginFault[]>();
  const engines: Inspection["engines"][number][] = [];
  const sandboxes: SandboxLayers[] = [];
  const skip: string[] = [];
  const note = (plugin: string, fault: PluginFault): void =>
    void faults.set(plugin, [...(faults.get(plugin) ?? []), fault]);
  for (;;) {
    const request = { ...options, details: options.details ?? false, skip };
    const inspecting = pluginProcess<InspectMessage>("inspect-worker", request as never);
    let [current, turn] = ["", await inspecting.next()];
    for (; turn.done !== true; turn = await inspecting.next()) {
      const message = turn.value;
      if (message.event === "started") current = message.plugin;
      if (message.event === "ended") {
        skip.push(message.plugin);
        current = "";
      }
      if (message.event === "fault") note(message.plugin, message.fault);
      if (message.event === "engine") engines.push({ id: message.id, installation: message.installation });
      if (message.event === "sandbox") sandboxes.push(message.layers);
    }
    const ended = turn.value;
    const last = current === "" ? skip.at(-1) : current;
    const printed = faultOfOutput(ended.printed);
    if (printed !== undefined && last !== undefined) note(last, printed);
    if (ended.kind === "done" || last === undefined) break;
    note(last, faultOfEnd(ended, current === "" ? "the import of a later plugin" : "its import"));
    if (current === "") break;
    skip.push(current);
  }
  return { faults, engines, sandboxes };
}
