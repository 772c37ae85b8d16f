import type { MethodDefinition } from "@grpc/grpc-js";
import { type MessageType, serialise } from "./serialise.ts";

/** Directions in which a method sends more than one message. */
export type Shape = "unary" | "server-stream" | "duplex";

/** Makes a method of a gRPC service from its codecs. */
export function method<Request, Response>(
  path: `/${string}/${string}`,
  shape: Shape,
  request: MessageType<Request>,
  response: MessageType<Response>,
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

/** Serialised message. */
export type Serialised = Buffer;

/** Makes a method of a server that decodes neither requests nor responses. */
export function forwarded({
  path,
  requestStream,
  responseStream,
}: Pick<MethodDefinition<unknown, unknown>, "path" | "requestStream" | "responseStream">): MethodDefinition<
  Serialised,
  Serialised
> {
  const asIs = (message: Serialised): Buffer => message;
  return {
    path,
    requestStream,
    responseStream,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
}

/** Makes a duplex method whose requests the sender has serialised. The receiver checks requests before it decodes them. */
export function preserialisedDuplex<Response>(path: `/${string}/${string}`, response: MessageType<Response>) {
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
