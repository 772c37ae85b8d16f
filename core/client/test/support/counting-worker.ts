// Worker of counting-server.ts in its own process: `node counting-worker.ts LINK`.
import { processChannel } from "@mrlm/process";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type LinkAddress, serveWorker } from "@mrlm/server";
import { chainPlugin } from "./chain-plugin.ts";
import { countingPlugin } from "./counting-plugin.ts";

await serveWorker({
  host: new LocalHost({ source: await PluginHost.of([countingPlugin, chainPlugin]) }),
  channel: processChannel(process),
  link: JSON.parse(process.argv[2] as string) as LinkAddress,
});
process.exit();
