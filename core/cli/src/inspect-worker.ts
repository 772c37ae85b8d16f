// Imports plugins one after the other, in a process that they may end, block or change. services/inspect-plugins.ts starts it.
import { configuredPlugins, discoverPlugins, loadConfig, PluginHost, requiredSandboxes } from "@mrlm/runtime";
import { globalChanges, globalState } from "./services/global-changes.ts";
import type { InspectMessage, InspectRequest } from "./services/inspect-plugins.ts";
import { faultOf, faultOfOutput } from "./services/plugin-fault.ts";
import { interceptOutput } from "./services/printed-output.ts";
import { openWorkerPort } from "./services/worker-port.ts";

/** Time for the code of one plugin, in milliseconds. */
const PLUGIN_MS = 10_000;

const printed = interceptOutput();
const { request, send, end } = await openWorkerPort<InspectRequest, InspectMessage>();
const { directory, config, skip, details } = request;
const { plugins = {}, relativeTo = directory } =
  config === undefined ? {} : configuredPlugins(loadConfig(config.path, { overrides: config.set }));
const entries = discoverPlugins(directory, plugins, relativeTo, undefined, () => undefined);
let current = "";
process.on("uncaughtException", (error) => send({ event: "fault", plugin: current, fault: faultOf(error) }));

for (const entry of entries) {
  if (skip.includes(entry.name)) continue;
  current = entry.name;
  send({ event: "started", plugin: entry.name, nextMs: PLUGIN_MS });
  const before = globalState();
  try {
    const plugin = await entry.load((provision) => requiredSandboxes(entries, provision));
    const changes = globalChanges(before);
    if (changes.length > 0)
      send({
        event: "fault",
        plugin: entry.name,
        fault: {
          code: "GLOBAL_CHANGED",
          message: `The import changed ${changes.slice(0, 5).join(", ")}${changes.length > 5 ? ` and ${changes.length - 5} more` : ""}.`,
        },
      });
    if (details) {
      const host = await PluginHost.of(
        [plugin],
        entry.options === undefined ? {} : { plugins: { [plugin.name]: entry.options } },
      );
      try {
        await describeServices(entry.name, host);
      } finally {
        await host.close();
      }
    }
  } catch (error) {
    send({ event: "fault", plugin: entry.name, fault: faultOf(error) });
  }
  const output = faultOfOutput(printed());
  if (output !== undefined) send({ event: "fault", plugin: entry.name, fault: output });
  send({ event: "ended", plugin: entry.name });
}
end();

/** Sends the installation of each engine of a plugin, and the isolation layers of each sandbox. */
async function describeServices(plugin: string, host: PluginHost): Promise<void> {
  for (const id of host.registry.ids("engine")) {
    const installation = await (await host.engine(id)).locate();
    send({ event: "engine", plugin, id, ...(installation !== undefined && { installation }) });
  }
  for (const id of host.registry.ids("sandbox"))
    send({ event: "sandbox", plugin, layers: await (await host.service("sandbox", id, "mrlm")).layers() });
}
