// Server in its own process: `node counting-server.ts PORT`. It sends its port to the parent process.
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "@mrlm/server";
import { chainPlugin } from "./chain-plugin.ts";
import { countingPlugin } from "./counting-plugin.ts";

const host = new LocalHost({ source: await PluginHost.of([countingPlugin, chainPlugin]) });
const server = await serveEnvironments({ host, address: `127.0.0.1:${process.argv[2] ?? 0}` });
process.send?.(server.port);
process.on("disconnect", () => process.exit());
