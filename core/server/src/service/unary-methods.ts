import type { ServerUnaryCall } from "@grpc/grpc-js";
import type { EnvironmentHost, Logger } from "@mrlm/spec";
import { ENVIRONMENT_PROTOCOL, decodeEnvironmentRef, encodeDemonstration, encodeDescription, type environmentProto as wire } from "@mrlm/wire";
import type { Operation } from "../sessions/operation.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import { unary as answered } from "../unary.ts";
import { abandoned } from "./abandoned.ts";
import { identityOf } from "./identity.ts";
import { logFault } from "./log-fault.ts";

/** What a server says of itself. */
export interface ServerIdentity {
  readonly instanceId: string;
  readonly version: string;
}

/** The unary methods of EnvironmentService. */
export function unaryMethods(host: EnvironmentHost, table: SessionTable, server: ServerIdentity, logger: Logger) {
  const unary = <Request, Response>(handle: (call: ServerUnaryCall<Request, Response>) => Promise<Response>) =>
    answered(handle, (error) => logFault(logger, error));
  return {
    describe: unary<wire.DescribeRequest, wire.DescribeResponse>(async ({ request: { environment } }) => ({
      protocolMajor: ENVIRONMENT_PROTOCOL.major,
      protocolMinor: ENVIRONMENT_PROTOCOL.minor,
      environments: (environment === undefined ? await host.list() : [await host.describe(decodeEnvironmentRef(environment))]).map(encodeDescription),
      instanceId: server.instanceId,
      serverVersion: server.version,
    })),
    reset: unary<wire.ResetRequest, wire.ResetResponse>((call) => answerOf(call, table.reset(identityOf(call), call.request))),
    step: unary<wire.StepRequest, wire.StepResponse>((call) => answerOf(call, table.step(identityOf(call), call.request))),
    close: unary<wire.CloseRequest, wire.CloseResponse>(async (call) => {
      await table.close(identityOf(call), call.request);
      return {};
    }),
    renew: unary<wire.RenewRequest, wire.RenewResponse>(async (call) => ({ gone: table.renew(identityOf(call), call.request) })),
    demonstrate: unary<wire.DemonstrateRequest, wire.DemonstrateResponse>(async ({ request: { environment, tasks } }) => ({
      demonstrations: (await host.demonstrate(decodeEnvironmentRef(environment), tasks)).map(encodeDemonstration),
    })),
  };
}

/** gRPC does not tell a client that gave up from one that lost its connection: both leave, and the first aborts the work a little later. */
async function answerOf<Request, Response>(call: ServerUnaryCall<Request, Response>, operation: Operation<Response>): Promise<Response> {
  operation.join();
  const onCancelled = (): void => abandoned(operation);
  call.on("cancelled", onCancelled);
  try {
    return await operation.promise;
  } finally {
    if (!call.cancelled) operation.leave();
    call.off("cancelled", onCancelled);
  }
}
