import { Metadata, type ServiceError, status } from "@grpc/grpc-js";

/** Error of a call whose server gave no answer, in the form that gRPC reports it. */
export function connectionLoss(details: string): ServiceError {
  return Object.assign(new Error(details), { code: status.UNAVAILABLE, details, metadata: new Metadata() });
}
