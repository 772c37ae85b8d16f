import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { json } from "node:stream/consumers";
import type { JsonObject, JsonValue } from "@mrlm/spec";

/** Request that a chat server received. */
export interface ChatServerRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject & { readonly messages: readonly { readonly role: string; readonly content: string }[] };
}

/** Answer of a chat server: the text of the message, fields of the message and its choice, or a function that writes the response itself. */
export type ChatServerReply =
  | string
  | {
      readonly message: JsonObject;
      readonly finishReason?: string;
      readonly usage?: JsonObject | null;
      readonly model?: string;
    }
  | ((response: ServerResponse) => void);

/** OpenAI-compatible HTTP server on loopback, whose answers a test states. */
export interface ChatServer {
  /** For the option `base_url` of a model client. */
  readonly baseUrl: string;
  readonly requests: readonly ChatServerRequest[];
  /** Connections that are open. */
  openConnections(): number;
  close(): Promise<void>;
}

/** Starts a server for chat completions. `reply` gets each request and its index, from 0. */
export async function startChatServer(
  reply: (request: ChatServerRequest, index: number) => ChatServerReply | Promise<ChatServerReply>,
): Promise<ChatServer> {
  const requests: ChatServerRequest[] = [];
  const sockets = new Set<Socket>();
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await json(incoming)) as ChatServerRequest["body"];
    requests.push({ path: incoming.url ?? "", headers: incoming.headers, body });
    const index = requests.length - 1;
    answer(response, await reply(requests[index] as ChatServerRequest, index));
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    openConnections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(response: ServerResponse, reply: ChatServerReply): void {
  if (typeof reply === "function") return reply(response);
  const { message, finishReason, usage, model } =
    typeof reply === "string" ? { message: { content: reply } as JsonObject } : { finishReason: "stop", ...reply };
  const body: Record<string, JsonValue> = {
    id: "chatcmpl-test",
    object: "chat.completion",
    created: 0,
    model: model ?? "test",
    choices: [{ index: 0, finish_reason: finishReason ?? "stop", message: { role: "assistant", ...message } }],
  };
  if (usage !== null) body["usage"] = usage ?? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}
