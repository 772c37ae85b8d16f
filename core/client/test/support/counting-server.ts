// A server in a process of its own: `node counting-server.ts PORT`. It says the port that it listens on to its parent.
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "@mrlm/server";
import { countingPlugin } from "./counting-plugin.ts";

const host = new LocalHost({ source: await PluginHost.of([countingPlugin]) });
const server = await serveEnvironments({ host, address: `127.0.0.1:${process.argv[2] ?? 0}` });
process.send?.(server.port);
process.on("disconnect", () => process.exit());
