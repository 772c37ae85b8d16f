import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { Mrlm } from "./support/mrlm.ts";

/** Sends a message of MCP. @returns the response, with the id of its session */
async function post(url: string, message: object, session?: string) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session !== undefined && { "mcp-session-id": session }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  const text = await response.text();
  return { status: response.status, session: response.headers.get("mcp-session-id"), body: JSON.parse(text || "{}") };
}

const initialize = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

test("mrlm serve --http-port: an MCP client and a gRPC client share a server; SIGTERM ends both", async () => {
  const server = new Mrlm([
    "serve",
    "--environments",
    "math",
    "--port",
    "0",
    "--http-port",
    "0",
    "--dialects",
    "mcp",
    "--reveal-rewards",
    "--json",
    "--demonstrations",
  ]);
  const { address, http, dialects } = await server.event(({ event }) => event === "listening");
  expect(dialects).toEqual(["mcp"]);
  const grpc = await connectEnvironments(address as string);
  const [demonstration] = await grpc.demonstrate({ id: "math" }, ["train/5"]);
  const [part] = demonstration?.messages.at(-1)?.parts ?? [];
  const url = `http://${http as string}/mcp?task=train/5`;
  const { session, body } = await post(url, initialize);
  expect(body.result).toMatchObject({ capabilities: { tools: {} }, instructions: expect.stringContaining("Task:") });
  const answer = part?.type === "text" ? part.text : "";
  const call = { id: 2, method: "tools/call", params: { name: "finish", arguments: { answer } } };
  const { body: ended } = await post(url, call, session as string);
  expect(ended.result["_meta"]).toMatchObject({ mrlm: { terminated: true, total: { reward: 1 } } });
  // The server waits for an open session, until its lease ends.
  expect((await post(`${url}&lease_ms=300`, initialize)).status).toBe(200);
  server.child.kill("SIGTERM");
  await grpc.close();
  expect(await server.finished).toMatchObject({ code: 0, signal: null });
});
