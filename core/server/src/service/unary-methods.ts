import type { ServerUnaryCall } from "@grpc/grpc-js";
import type { Tokens } from "@mrlm/kit/access";
import { type Logger, MrlmError } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import {
  ENVIRONMENT_PROTOCOL,
  TRACE_METADATA_KEY,
  checkName,
  decodeEnvironmentRef,
  encodeDemonstration,
  encodeDescription,
  encodeStep,
  invalid,
  type environmentProto as wire,
} from "@mrlm/wire";
import type { Capacity } from "../sessions/capacity.ts";
import { checkedRef } from "../sessions/checked-ref.ts";
import type { Operation } from "../sessions/operation.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import { unary as answered } from "../unary.ts";
import { callerOf } from "./caller.ts";
import { decodeReset, decodeStep, encodeStart } from "./session-requests.ts";
import { logFault } from "../sessions/log-fault.ts";

/** Time in which a unary call whose client is gone may be repeated before its work is aborted. */
const GRACE_MS = 1_000;

/** Tasks of one call for demonstrations. A RemoteHost requests 256 at a time. */
const MAX_DEMONSTRATED = 1_024;

/** Identity of a server and its optional services. */
export interface ServerIdentity {
  readonly instanceId: string;
  readonly version: string;
  /** Whether clients get worked solutions. */
  readonly demonstrations: boolean;
}

/** Returns the unary methods of EnvironmentService. */
export function unaryMethods(
  host: EnvironmentHost,
  {
    table,
    capacity,
    tokens,
  }: { readonly table: SessionTable; readonly capacity: Capacity; readonly tokens: Tokens | undefined },
  server: ServerIdentity,
  logger: Logger,
) {
  const unary = <Request, Response>(handle: (call: ServerUnaryCall<Request, Response>) => Promise<Response>) =>
    answered(handle, (error) => logFault(logger, error));
  return {
    describe: unary<wire.DescribeRequest, wire.DescribeResponse>(async ({ request: { environment } }) => ({
      protocolMajor: ENVIRONMENT_PROTOCOL.major,
      protocolMinor: ENVIRONMENT_PROTOCOL.minor,
      environments: (environment === undefined
        ? await host.list()
        : [await table.describe(decodeEnvironmentRef(environment))]
      ).map((description) => ({
        ...encodeDescription(server.demonstrations ? description : { ...description, hasDemonstrations: false }),
        maxSessions: capacity.limits.sessionsByEnvironment[description.id] ?? 0,
        use: capacity.use(description.id),
      })),
      instanceId: server.instanceId,
      serverVersion: server.version,
      limits: capacity.limits,
      use: capacity.use(),
      isDraining: capacity.isDraining,
    })),
    reset: unary<wire.ResetRequest, wire.ResetResponse>(async (call) => {
      const caller = callerOf(call, tokens);
      return encodeStart(
        await answerOf(call, table.reset(caller.owner, decodeReset(call.request, caller, traceOf(call)))),
      );
    }),
    step: unary<wire.StepRequest, wire.StepResponse>(async (call) =>
      encodeStep(
        await answerOf(call, table.step(callerOf(call, tokens).owner, decodeStep(call.request, traceOf(call)))),
      ),
    ),
    close: unary<wire.CloseRequest, wire.CloseResponse>(async (call) => {
      await table.close(callerOf(call, tokens).owner, call.request.sessionId);
      return {};
    }),
    renew: unary<wire.RenewRequest, wire.RenewResponse>(async (call) => ({
      gone: table.renew(callerOf(call, tokens).owner, call.request.sessionIds),
    })),
    demonstrate: unary<wire.DemonstrateRequest, wire.DemonstrateResponse>(async (call) => {
      const { environment, tasks } = call.request;
      if (!server.demonstrations) {
        throw new MrlmError("DEMONSTRATION_REFUSED", "This server gives no demonstrations.", {
          hint: "Its operator allows them with `mrlm serve --demonstrations`: clients then read the solutions of training tasks, and choose by options which tasks these are.",
        });
      }
      if (tasks.length > MAX_DEMONSTRATED)
        throw invalid(
          `demonstrations of ${tasks.length} tasks are asked for in one call; ${MAX_DEMONSTRATED} are allowed`,
        );
      const gone = new AbortController();
      call.once("cancelled", () => gone.abort(new MrlmError("CANCELLED", "The client cancelled the call.")));
      const found = await host.demonstrate(
        checkedRef(decodeEnvironmentRef(environment)),
        tasks.map((task) => checkName(task, "the name of a task")),
        { signal: gone.signal },
      );
      return { demonstrations: found.map(encodeDemonstration) };
    }),
  };
}

function traceOf({ metadata }: ServerUnaryCall<unknown, unknown>): string {
  return String(metadata.get(TRACE_METADATA_KEY)[0] ?? "");
}

/** Waits for an operation. gRPC reports a cancelled call and a lost connection in the same way, so the work is aborted only after a delay. */
async function answerOf<Request, Response, Result>(
  call: ServerUnaryCall<Request, Response>,
  operation: Operation<Result>,
): Promise<Result> {
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

/** Handles a unary call whose client is gone: unless the call is repeated soon, its work is aborted. */
function abandoned(operation: Operation<unknown>): void {
  operation.leave();
  setTimeout(() => {
    if (operation.isAbandoned) operation.abort(new MrlmError("CANCELLED", "The client cancelled the call."));
  }, GRACE_MS).unref();
}
