import type { ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { invalid, statusOfError } from "@mrlm/wire";

/** Request whose bytes could not be decoded. */
class Undecodable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Makes the methods of a service pass requests that cannot be decoded to {@link unary}, which refuses them. gRPC itself would answer INTERNAL. */
export function withUndecodable<Service extends object>(service: Service): Service {
  const methods = Object.entries(service).map(([name, method]) => {
    const { requestSerialize, requestDeserialize } = method as {
      requestSerialize: unknown;
      requestDeserialize: (bytes: Buffer) => unknown;
    };
    // Requests that stay serialised.
    if (requestSerialize === requestDeserialize) return [name, method] as const;
    const decode = (bytes: Buffer): unknown => {
      try {
        return requestDeserialize(bytes);
      } catch (error) {
        return new Undecodable((error as Error).message);
      }
    };
    return [name, { ...method, requestDeserialize: decode }] as const;
  });
  return Object.fromEntries(methods) as Service;
}

/** Throws MESSAGE_INVALID for a request that could not be decoded. */
export function assertDecoded(request: unknown): void {
  if (request instanceof Undecodable) throw invalid(`a request cannot be decoded (${request.reason})`);
}

/**
 * Makes the handler of a unary method. A thrown error becomes the call's status, with the whole error in the trailing metadata.
 * @param onError called before, because a status does not contain the message of an unexpected error
 */
export function unary<Request, Response>(
  handle: (call: ServerUnaryCall<Request, Response>) => Promise<Response>,
  onError: (error: unknown) => void = () => undefined,
) {
  return async (call: ServerUnaryCall<Request, Response>, answer: sendUnaryData<Response>): Promise<void> => {
    let response: Response;
    try {
      assertDecoded(call.request);
      response = await handle(call);
    } catch (error) {
      onError(error);
      answer(statusOfError(error));
      return;
    }
    answer(null, response);
  };
}
