import { defined, MrlmError } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { engineInfoCodec, PROTOCOLS, ENGINE_SERVICE } from "@mrlm/wire";
import { EngineConnection } from "./engine-connection.ts";
import { RemoteEngine } from "./remote-engine.ts";
import type { SamplerPool } from "./sampler-pool.ts";

/**
 * Connects to an engine over gRPC. Rejects with ENGINE_UNAVAILABLE when nothing answers at the address, with UNAUTHENTICATED for a wrong
 * token, and with PROTOCOL_VERSION for an engine of another major version.
 *
 * @param address `host:port`
 * @param options.token content of the engine's `--token-file`
 * @param options.samplers samplers in other processes, which get each published version and sample beside the engine
 * @param options.lost aborted, with an error as its reason, when the engine's process is known to have ended; every call then rejects with this error at once
 */
export async function connectEngine(
  address: string,
  options: { readonly lost?: AbortSignal; readonly token?: string; readonly samplers?: SamplerPool } = {},
): Promise<Engine> {
  const connection = new EngineConnection(address, options);
  try {
    const info = await connection.unary(ENGINE_SERVICE.describe, {});
    if (info.protocolMajor !== PROTOCOLS.engine.major) {
      throw new MrlmError(
        "PROTOCOL_VERSION",
        `The engine at ${address} uses protocol ${info.protocolMajor}.${info.protocolMinor}, this client uses ${PROTOCOLS.engine.major}.${PROTOCOLS.engine.minor}.`,
      );
    }
    connection.bindTo(info.instanceId);
    options.samplers?.attach({ address, ...defined({ token: options.token }) }, engineInfoCodec.decode(info));
    return new RemoteEngine(connection, info, options.samplers);
  } catch (error) {
    connection.close();
    throw error;
  }
}
