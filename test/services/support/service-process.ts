// Process that has the services of the repository's plugins, for tests of their use by another.
import { silentLogger } from "@mrlm/kit/service";
import { PluginHost, serveServices } from "@mrlm/runtime";

const plugins = await PluginHost.discover({ directory: process.argv[2] as string, logger: silentLogger });
const closed = new AbortController();
process.on("disconnect", () => closed.abort());
serveServices(
  {
    closed: closed.signal,
    send: (body) => void process.send?.(body),
    onMessage(listener) {
      process.on("message", listener);
      return () => void process.off("message", listener);
    },
  },
  plugins,
);
process.send?.("ready");
