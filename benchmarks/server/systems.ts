/** Clients of the measured servers. Each opens sessions whose `step` sends the same action and resolves with the response. */
import { randomBytes } from "node:crypto";
import { Client, credentials } from "@grpc/grpc-js";
import { connectEnvironments } from "@mrlm/client";
import { textMessage } from "@mrlm/kit";
import type { Action } from "@mrlm/spec";
import { ENVIRONMENT_SERVICE, Outbox, actionCodec, environmentProto as wire, serialise } from "@mrlm/wire";

/** Text of each action: 100 bytes. */
export const TEXT =
  "The quick brown fox jumps over the lazy dog, and the dog sleeps on: <answer>forty-two</answer> (42).".slice(0, 100);
const ACTION: Action = { agent: "agent", message: textMessage("assistant", TEXT), finishReason: "stop" };
const never = new AbortController().signal;

export interface System {
  readonly name: "" | "echo" | "openenv" | "openenv_async";
  /** Process whose CPU time is reported. */
  readonly pid: number;
  open(count: number): Promise<OpenSessions>;
}

export interface OpenSessions {
  readonly steps: readonly (() => Promise<unknown>)[];
  close(): Promise<void>;
}

/** Our client, with all sessions on one stream. */
export async function openOurs(
  port: number,
  count: number,
  { environment = "echo@1", batch = count }: { readonly environment?: string; readonly batch?: number } = {},
): Promise<OpenSessions> {
  const host = await connectEnvironments(`127.0.0.1:${port}`);
  const steps: (() => Promise<unknown>)[] = [];
  while (steps.length < count) {
    const length = Math.min(batch, count - steps.length);
    const sessions = await Promise.all(Array.from({ length }, () => host.open({ id: environment })));
    await Promise.all(sessions.map((session) => session.reset({ signal: never })));
    for (const session of sessions) steps.push(() => session.step(ACTION, { signal: never }));
  }
  return { steps, close: () => host.close() };
}

/** Requests over a bare stream of grpc-js, with the messages of the protocol and their coalescing. */
export async function openBareEcho(port: number, count: number): Promise<OpenSessions> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.use_local_subchannel_pool": 1,
    "grpc-node.flow_control_window": 8 << 20,
  });
  const { path, requestSerialize, responseDeserialize } = ENVIRONMENT_SERVICE.multiplex;
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  const outbox = new Outbox((frame) => call.write(frame));
  const waiting = new Map<bigint, (response: wire.SessionResponse) => void>();
  call.on("drain", () => outbox.drained());
  call.on("error", () => undefined);
  call.on("data", (frame: wire.MultiplexResponse) => {
    for (const response of frame.responses) {
      waiting.get(response.requestId)?.(response);
      waiting.delete(response.requestId);
    }
  });
  let last = 0n;
  const action = actionCodec.encode(ACTION);
  const step = (sessionId: Uint8Array): Promise<wire.SessionResponse> => {
    const requestId = ++last;
    const request = { $case: "step", step: { sessionId, epoch: 1, index: 0, action, deadlineMs: 0 } } as const;
    const envelope = { requestId, request, cancel: false, chunk: undefined, traceparent: "" };
    const { promise, resolve } = Promise.withResolvers<wire.SessionResponse>();
    waiting.set(requestId, resolve);
    outbox.add(requestId, serialise(wire.SessionRequest, envelope));
    return promise;
  };
  const ids = Array.from({ length: count }, () => randomBytes(16));
  return {
    steps: ids.map((id) => () => step(id)),
    async close() {
      call.end();
      client.close();
    },
  };
}

/** Sessions of OpenEnv: a WebSocket each. @param field of an action with its text */
export async function openOpenEnv(port: number, count: number, field = "text"): Promise<OpenSessions> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(`ws://127.0.0.1:${port}/ws`)));
  const reset = JSON.stringify({ type: "reset", data: {} });
  await Promise.all(sockets.map((socket) => socket.request(reset)));
  return {
    steps: sockets.map((socket) => () => socket.request(JSON.stringify({ type: "step", data: { [field]: TEXT } }))),
    close: async () => void (await Promise.all(sockets.map((socket) => socket.close()))),
  };
}

interface Socket {
  request(text: string): Promise<unknown>;
  close(): Promise<void>;
}

async function openSocket(url: string): Promise<Socket> {
  const socket = new WebSocket(url);
  let settle: ((response: unknown) => void) | undefined;
  socket.addEventListener("message", ({ data }) => {
    const response = JSON.parse(data as string) as { type: string };
    if (response.type !== "observation") throw new Error(`OpenEnv answered ${data as string}`);
    settle?.(response);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", () => reject(new Error(`${url} refused a connection`)), { once: true });
  });
  return {
    request: (text) =>
      new Promise((resolve) => {
        settle = resolve;
        socket.send(text);
      }),
    close: () =>
      new Promise((resolve) => {
        socket.addEventListener("close", () => resolve(), { once: true });
        socket.close();
      }),
  };
}
