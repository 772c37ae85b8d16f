import type { ServerUnaryCall } from "@grpc/grpc-js";
import { type Logger, MrlmError } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import {
  PROTOCOLS,
  checkName,
  environmentRefCodec,
  demonstrationCodec,
  descriptionCodec,
  invalid,
  type environmentProto as wire,
} from "@mrlm/wire";
import type { Capacity } from "../sessions/capacity.ts";
import { checkedRef } from "../sessions/checked-ref.ts";
import { unary as answered } from "../unary.ts";
import { logFault } from "../sessions/log-fault.ts";

/** Tasks of one call for demonstrations. A RemoteHost requests 256 at a time. */
const MAX_DEMONSTRATED = 1_024;

/** Identity of a server and its optional services. */
export interface ServerIdentity {
  readonly instanceId: string;
  readonly version: string;
  /** Whether clients get worked solutions. */
  readonly demonstrations: boolean;
}

/** Returns the methods of EnvironmentService that concern no session. */
export function environmentMethods(host: EnvironmentHost, capacity: Capacity, server: ServerIdentity, logger: Logger) {
  const unary = <Request, Response>(handle: (call: ServerUnaryCall<Request, Response>) => Promise<Response>) =>
    answered(handle, (error) => logFault(logger, error));
  return {
    describe: unary<wire.DescribeRequest, wire.DescribeResponse>(async ({ request: { environment } }) => ({
      protocolMajor: PROTOCOLS.environment.major,
      protocolMinor: PROTOCOLS.environment.minor,
      environments: (environment === undefined
        ? await host.list()
        : [await host.describe(checkedRef(environmentRefCodec.decode(environment)))]
      ).map((description) => ({
        ...descriptionCodec.encode(server.demonstrations ? description : { ...description, hasDemonstrations: false }),
        maxSessions: capacity.limits.sessionsByEnvironment[description.id] ?? 0,
        use: capacity.use(description.id),
      })),
      instanceId: server.instanceId,
      serverVersion: server.version,
      limits: capacity.limits,
      use: capacity.use(),
      isDraining: capacity.isDraining,
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
        checkedRef(environmentRefCodec.decode(environment)),
        tasks.map((task) => checkName(task, "the name of a task")),
        { signal: gone.signal },
      );
      return { demonstrations: found.map(demonstrationCodec.encode) };
    }),
  };
}
