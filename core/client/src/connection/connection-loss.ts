import { Metadata, type ServiceError, status } from "@grpc/grpc-js";

/** Makes the error of a call without a response, in the form in which gRPC reports it. */
export function connectionLoss(details: string): ServiceError {
  return Object.assign(new Error(details), { code: status.UNAVAILABLE, details, metadata: new Metadata() });
}
