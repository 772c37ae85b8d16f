import type { ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { statusOfError } from "@mrlm/wire";

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
      response = await handle(call);
    } catch (error) {
      onError(error);
      answer(statusOfError(error));
      return;
    }
    answer(null, response);
  };
}
