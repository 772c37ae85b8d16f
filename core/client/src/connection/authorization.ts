import type { Metadata } from "@grpc/grpc-js";

/** Lets every call carry a server's token, as `authorization: Bearer TOKEN`. It travels as it is: beyond one machine, over a tunnel or a network that is trusted. */
export function authorize(metadata: Metadata, token: string | undefined): Metadata {
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}
