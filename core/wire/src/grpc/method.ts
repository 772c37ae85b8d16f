import type { MethodDefinition } from "@grpc/grpc-js";
import { type Codec, serialise } from "./serialise.ts";

/** How many messages each side sends. */
export type Shape = "unary" | "server-stream" | "duplex";

/** A method of a gRPC service, from its codecs. */
export function method<Request, Response>(
  path: `/${string}/${string}`,
  shape: Shape,
  request: Codec<Request>,
  response: Codec<Response>,
): MethodDefinition<Request, Response> {
  return {
    path,
    requestStream: shape === "duplex",
    responseStream: shape !== "unary",
    requestSerialize: (message) => serialise(request, message),
    requestDeserialize: (bytes) => request.decode(bytes),
    responseSerialize: (message) => serialise(response, message),
    responseDeserialize: (bytes) => response.decode(bytes),
  };
}

/** A message that has been serialised already. */
export type Serialised = Buffer;

/** A duplex method whose messages are serialised by the caller before they are sent. Requests are decoded by their receiver, who checks them first. */
export function preserialisedDuplex<Response>(path: `/${string}/${string}`, response: Codec<Response>) {
  const asIs = (message: Serialised): Buffer => message;
  const decodeResponse = (bytes: Buffer): Response => response.decode(bytes);
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: decodeResponse,
  } as const;
}
