import type { Metadata } from "@grpc/grpc-js";
import { CLIENT_METADATA_KEY } from "@mrlm/wire";

/**
 * Returns the identity of a caller: the secret that the client generated, or else the client's address. Sessions are bound to it, so
 * that a session's id alone gives no access.
 */
export function identityOf(call: { readonly metadata: Metadata; getPeer(): string }): string {
  const [secret] = call.metadata.get(CLIENT_METADATA_KEY);
  return secret === undefined ? `address ${call.getPeer().replace(/:\d+$/, "")}` : `client ${String(secret)}`;
}
