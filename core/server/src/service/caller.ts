import type { Metadata } from "@grpc/grpc-js";
import { CLIENT_METADATA_KEY } from "@mrlm/wire";
import { ownerOf } from "../sessions/owner.ts";

/** Client of a call. */
export interface Caller {
  /** Identity, to which sessions and numbered calls are bound: the name of its token, with the secret that it generated or else its address. */
  readonly owner: string;
  /** Name of its token, for limits, logs and metrics; `undefined` without a named token. */
  readonly client?: string;
}

/** Names of the tokens of calls, from when they were accepted: a token that ends later does not change the client of its call. */
const names = new WeakMap<Metadata, string>();

/** Notes the name of the token with which a call was accepted. */
export function noteClient(metadata: Metadata, name: string | undefined): void {
  if (name !== undefined) names.set(metadata, name);
}

/** Returns the client of a call. */
export function callerOf(call: { readonly metadata: Metadata; getPeer(): string }): Caller {
  const client = names.get(call.metadata);
  const [secret] = call.metadata.get(CLIENT_METADATA_KEY);
  const identity = secret === undefined ? `address ${call.getPeer().replace(/:\d+$/, "")}` : `client ${String(secret)}`;
  return { owner: ownerOf(client, identity), ...(client === undefined ? {} : { client }) };
}

/** Returns the header `authorization` of a call; "" without one. */
export function authorizationOf(metadata: Metadata): string {
  return String(metadata.get("authorization")[0] ?? "");
}
