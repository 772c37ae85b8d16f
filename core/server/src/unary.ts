import type { ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { statusOfError } from "@mrlm/wire";

/** A unary method's handler; what it throws becomes the call's status, with the whole error in the trailing metadata. */
export function unary<Request, Response>(handle: (call: ServerUnaryCall<Request, Response>) => Promise<Response>) {
  return async (call: ServerUnaryCall<Request, Response>, answer: sendUnaryData<Response>): Promise<void> => {
    let response: Response;
    try {
      response = await handle(call);
    } catch (error) {
      answer(statusOfError(error));
      return;
    }
    answer(null, response);
  };
}
