import type { Metadata } from "@grpc/grpc-js";
import type { Tokens } from "@mrlm/kit/access";
import { identityOf } from "./identity.ts";

/** Client of a call. */
export interface Caller {
  /** Identity, to which sessions are bound. It is a secret of the client. */
  readonly owner: string;
  /** Name of its token, for limits, logs and metrics; `undefined` without a named token. */
  readonly client?: string;
}

/** Returns the client of a call. */
export function callerOf(call: { readonly metadata: Metadata; getPeer(): string }, tokens: Tokens | undefined): Caller {
  const client = tokens?.holder(authorizationOf(call.metadata))?.name;
  return { owner: identityOf(call), ...(client === undefined ? {} : { client }) };
}

/** Returns the header `authorization` of a call; "" without one. */
export function authorizationOf(metadata: Metadata): string {
  return String(metadata.get("authorization")[0] ?? "");
}
