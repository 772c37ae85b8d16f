import { Server, ServerCredentials } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";
import { ENGINE_SERVICE, SAMPLER_SERVICE } from "@mrlm/wire";
import { listen } from "../listen.ts";
import { engineMethods } from "./engine-methods.ts";
import { NumberedCalls } from "../numbered-calls.ts";
import { type PassesUnderWay, serveForward, serveForwardBackward } from "./pass-streams.ts";
import { samplerMethods } from "./sampler-methods.ts";
import type { ServedEngine } from "./served-engine.ts";

/** Running engine server. */
export interface EngineServer {
  readonly port: number;
  /** Stops at once. It does not close the engine. */
  close(): Promise<void>;
}

/** Serves an engine that is written in TypeScript over the protocol of the PyTorch engine. Rejects with PORT_IN_USE. */
export async function serveEngine(options: {
  readonly engine: ServedEngine;
  readonly address: string;
}): Promise<EngineServer> {
  const { engine } = options;
  const calls = new NumberedCalls();
  const passes: PassesUnderWay = new Map();
  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  server.addService(ENGINE_SERVICE, {
    ...engineMethods(engine, calls),
    forward: (call: Parameters<typeof serveForward>[1]) => void serveForward(engine, call),
    forwardBackward: (call: Parameters<typeof serveForwardBackward>[2]) =>
      void serveForwardBackward(engine, { calls, passes }, call),
  });
  server.addService(
    SAMPLER_SERVICE,
    samplerMethods({
      describe: () => engine.describeSampler(),
      readTokenizer: (model) => engine.readTokenizer(model),
      sampler: (model) => engine.sampler(model),
      update: async () => {
        throw new MrlmError("OPTIONS_INVALID", "An engine publishes its weights itself.");
      },
    }),
  );
  const port = await listen(server, options.address, ServerCredentials.createInsecure());
  return { port, close: async () => server.forceShutdown() };
}
