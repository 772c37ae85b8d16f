/** Tools of MCP servers, over standard streams, streamable HTTP and server-sent events. */
import { definePlugin } from "@mrlm/kit";
import { examples } from "./examples.ts";
import { mcpOptions } from "./options.ts";
import { McpToolset } from "./toolset.ts";

export default definePlugin({
  name: "@mrlm/tool-mcp",
  options: mcpOptions,
  tools: { "mcp@1": (context, options) => McpToolset.create(context, options) },
  examples,
});
