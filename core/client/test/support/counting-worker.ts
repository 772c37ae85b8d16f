// Worker of counting-server.ts in its own process: `node counting-worker.ts LINK`.
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type LinkAddress, serveWorker } from "@mrlm/server";
import { chainPlugin } from "./chain-plugin.ts";
import { countingPlugin } from "./counting-plugin.ts";
import { channelOver } from "./process-channel.ts";

await serveWorker({
  host: new LocalHost({ source: await PluginHost.of([countingPlugin, chainPlugin]) }),
  channel: channelOver(process),
  link: JSON.parse(process.argv[2] as string) as LinkAddress,
});
process.exit();
