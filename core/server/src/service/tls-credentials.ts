import { ServerCredentials } from "@grpc/grpc-js";
import type { ServerTls } from "@mrlm/kit/access";

/** Longest handshake in milliseconds. */
const HANDSHAKE_MS = 10_000;

/** Credentials of a gRPC server with TLS, whose new connections use the latest certificate. */
export class TlsCredentials extends ServerCredentials {
  readonly #end: () => void;

  constructor(tls: ServerTls) {
    super({ requestCert: tls.identity.ca !== undefined, handshakeTimeout: HANDSHAKE_MS }, tls.identity);
    this.#end = tls.onReplaced(() => this.updateSecureContextOptions(tls.identity));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }

  /** Follows later certificates no more. */
  dispose(): void {
    this.#end();
  }
}
