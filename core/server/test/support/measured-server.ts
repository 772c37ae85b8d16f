// Server in its own process, whose memory is measured apart from that of its clients: `node --expose-gc measured-server.ts OPTIONS`. It sends its
// port, and a Measure for each message that it gets.
import { randomBytes } from "node:crypto";
import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "../../src/index.ts";
import type { Measure } from "./measured-process.ts";

const live = { environments: 0 };
const letters = Buffer.from(randomBytes(1 << 20).toString("hex"));

/** Environment with 8 KiB of state. A step with the message `send N` returns N characters, and `wait` waits until it is aborted. */
const plugin = definePlugin({
  name: "letters",
  environments: [
    {
      id: "letters@1",
      description: "Sends letters.",
      determinism: "none",
      create: () => {
        live.environments++;
        const state = Buffer.alloc(8 << 10);
        return {
          async reset() {
            return observe([textMessage("user", "begin")]);
          },
          async step({ message: { parts } }, { signal }) {
            const [part] = parts;
            const [word, size] = part?.type === "text" ? part.text.split(" ") : [];
            if (word === "wait") await new Promise((resolve) => signal.addEventListener("abort", resolve));
            const begin = state[0] ?? 0;
            return singleStep({
              messages: [textMessage("user", letters.toString("latin1", begin, begin + Number(size ?? 8)))],
            });
          },
          async close() {
            live.environments--;
          },
        };
      },
    },
  ],
});

const host = new LocalHost({ source: await PluginHost.of([plugin]) });
const server = await serveEnvironments({
  host,
  address: "127.0.0.1:0",
  ...(JSON.parse(process.argv[2] ?? "{}") as object),
});

async function measure(): Promise<Measure> {
  // A second collection frees memory that finalizers of the first release.
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heapUsed, external, environments: live.environments, stats: server.stats() };
}

process.on("message", () => void measure().then((measured) => process.send?.(measured)));
process.on("disconnect", () => process.exit());
process.send?.(server.port);
