import type { ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { statusOfError } from "@mrlm/wire";

/**
 * A unary method's handler; what it throws becomes the call's status, with the whole error in the trailing metadata.
 * @param onError is told first: a status says nothing of faults that are not ours
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
