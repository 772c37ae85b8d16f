// Process that has the services of the repository's plugins, for tests of their use by another.
import { PluginHost, serveServices } from "@mrlm/runtime";
import { silentLogger } from "@mrlm/kit";
import { channelsToParent } from "../../src/services/worker-channel.ts";

const channels = channelsToParent();
const plugins = await PluginHost.discover({ directory: process.argv[2] as string, logger: silentLogger });
serveServices(channels.channel("services"), plugins);
channels.channel("ready").send(true);
