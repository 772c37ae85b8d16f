import type { TlsIdentity } from "./tls-identity.ts";

/** Certificate of a server, which can be replaced while it runs. With `ca`, clients must have a certificate of one of these authorities. */
export class ServerTls {
  readonly #listeners = new Set<() => void>();
  #identity: TlsIdentity;

  constructor(identity: TlsIdentity) {
    this.#identity = identity;
  }

  get identity(): TlsIdentity {
    return this.#identity;
  }

  /** Replaces the certificate for new connections. Open ones continue. */
  replace(identity: TlsIdentity): void {
    this.#identity = identity;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls back after each replacement. @returns removes the callback */
  onReplaced(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
