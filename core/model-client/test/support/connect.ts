import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { textMessage } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import type { Logger, MrlmError } from "@mrlm/spec";
import { createModelClient, type ModelClient, modelClientOptions } from "@mrlm/model-client";
import { type ChatServer, type ChatServerReply, type ChatServerRequest, startChatServer } from "@mrlm/testing";

export const KEY = "sk-test-0123456789/abcdef";
export const request = { messages: [textMessage("user", "Hello")] };
export const never = new AbortController().signal;

const opened: { close(): Promise<void> }[] = [];

/** Closes the servers and clients of a test. */
export async function closeAll(): Promise<void> {
  for (const resource of opened.splice(0).reverse()) await resource.close();
}

/** Starts a chat server that is closed after the test. */
export async function serve(
  reply: (request: ChatServerRequest, index: number) => ChatServerReply | Promise<ChatServerReply>,
): Promise<ChatServer> {
  const server = await startChatServer(reply);
  opened.push(server);
  return server;
}

/** Starts a server below HTTP: `answer` gets each connection after its first bytes. Returns its `base_url`. */
export async function serveRaw(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push({
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Creates a client that is closed after the test. */
export function connect(baseUrl: string, options: object = {}, logger: Logger = silentLogger): ModelClient {
  const parsed = modelClientOptions.parse({ base_url: baseUrl, model: "judge", ...options });
  const client = createModelClient(parsed, { env: { TEST_KEY: KEY }, logger });
  opened.push(client);
  return client;
}

/** Response with a status, a body and headers. */
export function respond(status: number, body: string | object, headers: Record<string, string> = {}): ChatServerReply {
  const isText = typeof body === "string";
  return (response) =>
    void response
      .writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers })
      .end(isText ? body : JSON.stringify(body));
}

/** Returns the error with which a promise rejects. */
export async function errorOf(promise: Promise<unknown>): Promise<MrlmError> {
  return await promise.then(
    () => {
      throw new Error("the promise was fulfilled");
    },
    (error: unknown) => error as MrlmError,
  );
}
