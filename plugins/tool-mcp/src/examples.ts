import type { PluginExamples } from "@mrlm/kit";

/** MCP server of one tool, for `node -e`. */
const SERVER = `
const tool = {
  name: "echo",
  description: "Returns its text.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"], additionalProperties: false },
};
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "example", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": (params) => ({ content: [{ type: "text", text: params.arguments.text }] }),
  ping: () => ({}),
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = results[method]?.(params);
  if (id === undefined) return;
  const error = { code: -32601, message: "unknown method" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }));
});
`;

/** Examples for the checks: a server that all episodes share. */
export const examples: PluginExamples = {
  options: () => ({
    mcpServers: { example: { command: process.execPath, args: ["-e", SERVER] } },
    servers: { example: { shared: true } },
  }),
  tools: { "mcp@1": { calls: [{ tool: "example__echo", args: { text: "hello" } }] } },
};
