// Server in its own process: `node counting-server.ts PORT WORKERS`. It sends its port to the parent process.
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "@mrlm/server";
import { chainPlugin } from "./chain-plugin.ts";
import { countingPlugin } from "./counting-plugin.ts";
import { forkWorkers } from "./forked-workers.ts";

const [port = "0", count = "0"] = process.argv.slice(2);
const workers = count === "0" ? undefined : await forkWorkers(Number(count));
const host = workers?.host ?? new LocalHost({ source: await PluginHost.of([countingPlugin, chainPlugin]) });
const server = await serveEnvironments({ host, ...(workers && { workers }), address: `127.0.0.1:${port}` });
process.send?.(server.port);
process.on("disconnect", () => process.exit());
