// Server of the protocol's version 2026-07-28, by the official package.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

function create() {
  const server = new McpServer({ name: "modern", version: "1" });
  const register = (name, call, inputSchema = z.object({})) =>
    server.registerTool(name, { description: name, inputSchema }, call);
  const text = (value) => ({ content: [{ type: "text", text: value }] });
  register("add", async ({ a, b }) => text(String(a + b)), z.object({ a: z.number(), b: z.number() }));
  register("hang", () => new Promise(() => undefined));
  register("pid", async () => text(String(process.pid)));
  register("grow", async () => {
    register("grown", async () => text("grown"));
    return text("grows");
  });
  return server;
}

serveStdio(create);
