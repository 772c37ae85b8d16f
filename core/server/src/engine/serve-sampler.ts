import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { Tokens } from "@mrlm/kit/access";
import type { ExternalSampler } from "@mrlm/spec/host";
import { SAMPLER_SERVICE } from "@mrlm/wire";
import { listen } from "../listen.ts";
import { requireToken } from "../service/authentication.ts";
import { withUndecodable } from "../unary.ts";
import { samplerMethods } from "./sampler-methods.ts";
import type { EngineServer } from "./serve-engine.ts";

/** Serves a sampler that is not an engine over gRPC. Rejects with PORT_IN_USE. */
export async function serveSampler(options: {
  readonly sampler: ExternalSampler;
  readonly address: string;
  /** Tokens of which every call must carry one as `authorization: Bearer TOKEN`. Default: none. */
  readonly tokens?: Tokens;
}): Promise<EngineServer> {
  const server = new Server({
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    ...(options.tokens === undefined ? {} : { interceptors: [requireToken(options.tokens, () => undefined)] }),
  });
  server.addService(withUndecodable(SAMPLER_SERVICE), samplerMethods(options.sampler));
  const port = await listen(server, options.address, ServerCredentials.createInsecure());
  return { port, close: async () => server.forceShutdown() };
}
