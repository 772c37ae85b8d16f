import { type Metadata, ServerInterceptingCall, type ServerInterceptor } from "@grpc/grpc-js";
import { bearerCheck } from "@mrlm/kit/http";
import { MrlmError } from "@mrlm/spec";
import { statusOfError } from "@mrlm/wire";

/** Methods without a token: probes of load balancers carry none, and get only the serving state. */
const OPEN_TO_ALL = "/grpc.health.v1.Health/";

/** Makes an interceptor that refuses calls without `authorization: Bearer TOKEN`, except health checks, with UNAUTHENTICATED. */
export function requireToken(token: string): ServerInterceptor {
  const isToken = bearerCheck(token);
  const carriesToken = (metadata: Metadata): boolean => isToken(String(metadata.get("authorization")[0] ?? ""));
  return (method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, proceed) {
            if (method.path.startsWith(OPEN_TO_ALL) || carriesToken(metadata)) proceed(metadata);
            else call.sendStatus(statusOfError(new MrlmError("UNAUTHENTICATED", "The call carries no valid token.")));
          },
        }),
    });
}
