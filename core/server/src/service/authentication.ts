import { ServerInterceptingCall, type ServerInterceptor } from "@grpc/grpc-js";
import type { Tokens } from "@mrlm/kit/access";
import { MrlmError } from "@mrlm/spec";
import { statusOfError } from "@mrlm/wire";
import { authorizationOf, noteClient } from "./caller.ts";

/** Methods without a token: probes of load balancers carry none, and get only the serving state. */
const OPEN_TO_ALL = "/grpc.health.v1.Health/";

/**
 * Makes an interceptor that refuses calls without a valid `authorization: Bearer TOKEN`, except health checks, with UNAUTHENTICATED.
 * @param onRefused called for each of them
 */
export function requireToken(tokens: Tokens, onRefused: () => void): ServerInterceptor {
  return (method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, proceed) {
            const holder = tokens.holder(authorizationOf(metadata));
            if (method.path.startsWith(OPEN_TO_ALL) || holder !== undefined) {
              noteClient(metadata, holder?.name);
              return proceed(metadata);
            }
            onRefused();
            call.sendStatus(statusOfError(new MrlmError("UNAUTHENTICATED", "The call carries no valid token.")));
          },
        }),
    });
}
