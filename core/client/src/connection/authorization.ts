import type { Metadata } from "@grpc/grpc-js";

/** Adds a server's token to the metadata of every call, as `authorization: Bearer TOKEN`. It is not encrypted: beyond one machine use a tunnel or a trusted network. */
export function authorize(metadata: Metadata, token: string | undefined): Metadata {
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}
