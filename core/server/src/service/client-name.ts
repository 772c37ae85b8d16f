import { createHash } from "node:crypto";
import type { Metadata } from "@grpc/grpc-js";
import type { Tokens } from "@mrlm/kit/access";
import { identityOf } from "./identity.ts";

/**
 * Returns the name of a caller for limits, logs and metrics: the name of its token, else a name derived from its identity, from which the identity
 * cannot be computed. Sessions are bound to the identity, not to the name.
 */
export function clientNameOf(
  call: { readonly metadata: Metadata; getPeer(): string },
  tokens: Tokens | undefined,
): string {
  const name = tokens?.holder(authorizationOf(call.metadata))?.name;
  return name ?? `client-${createHash("sha256").update(identityOf(call)).digest("hex").slice(0, 8)}`;
}

/** Returns the header `authorization` of a call; "" without one. */
export function authorizationOf(metadata: Metadata): string {
  return String(metadata.get("authorization")[0] ?? "");
}
