import type { Metadata } from "@grpc/grpc-js";
import { CLIENT_METADATA_KEY } from "@mrlm/wire";

/**
 * Who a caller is: the secret that it made up for itself, or else the address it calls from. Sessions are bound to it, so that
 * somebody who learns a session's id cannot use it.
 */
export function identityOf(call: { readonly metadata: Metadata; getPeer(): string }): string {
  const [secret] = call.metadata.get(CLIENT_METADATA_KEY);
  return secret === undefined ? `address ${call.getPeer().replace(/:\d+$/, "")}` : `client ${String(secret)}`;
}
