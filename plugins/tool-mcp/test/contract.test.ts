import { toolsetContract } from "@mrlm/testing";
import { scripted, toolset } from "./support/toolset.ts";

const tools = ["echo", "keep", "kept"];
const keep = { tool: "s__keep", args: { value: "this" } };
const kept = { tool: "s__kept", args: {} };
const calls = [{ tool: "s__echo", args: { x: 1 } }, keep, kept];

toolsetContract({
  name: "a server with a process for each episode",
  make: () => toolset({ mcpServers: { s: scripted() }, servers: { s: { tools } } }),
  calls,
  state: { change: keep, read: kept },
  // `npm run test:faults -- mcp` has 200.
  episodes: 1,
});

toolsetContract({
  name: "a shared server",
  make: () => toolset({ mcpServers: { s: scripted() }, servers: { s: { tools, shared: true, processes: 2 } } }),
  calls,
});
