import type { Metadata } from "@grpc/grpc-js";

/** Adds a server's token to the metadata of every call, as `authorization: Bearer TOKEN`. It is encrypted by TLS only. */
export function authorize(metadata: Metadata, token: string | undefined): Metadata {
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}

/** Token of a client, or a function that returns the present one, such as that of a file. */
export type TokenSource = string | (() => string);

/** Longest time until a server has received a token that its client has. */
const UNKNOWN_MS = 60_000;

/**
 * Authorization of one client, in the metadata of its calls. A token that the server has accepted stays in use until the server refuses it: the server may
 * receive a new token later than the client.
 */
export class Authorization {
  readonly metadata: Metadata;
  readonly #source: (() => string) | undefined;
  #token: string | undefined;
  #renewedAt = -Infinity;

  constructor(metadata: Metadata, source: TokenSource | undefined) {
    this.metadata = metadata;
    this.#source = typeof source === "function" ? source : undefined;
    this.#token = typeof source === "function" ? source() : source;
    authorize(metadata, this.#token);
  }

  /**
   * Gets the present token, after the server has refused the one in use.
   * @returns whether another attempt may succeed: the token has changed within the last minute
   */
  renew(): boolean {
    const now = performance.now();
    const token = this.#source?.();
    if (token === undefined || token === this.#token) return now - this.#renewedAt < UNKNOWN_MS;
    this.#token = token;
    this.#renewedAt = now;
    authorize(this.metadata, token);
    return true;
  }
}
