import { pluginContract, toolContract } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { scripted, toolset } from "./support/toolset.ts";

pluginContract({ plugins: [plugin] });

// `npm run test:faults -- mcp` has that of servers with a process for each episode.
toolContract({
  name: "a shared server",
  make: () =>
    toolset({
      mcpServers: { s: scripted() },
      servers: { s: { tools: ["echo", "keep"], shared: true, processes: 2 } },
    }),
  calls: [
    { tool: "s__echo", args: { x: 1 } },
    { tool: "s__keep", args: { value: "this" } },
  ],
});
