import { createHash, timingSafeEqual } from "node:crypto";
import { type Metadata, ServerInterceptingCall, type ServerInterceptor } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";
import { statusOfError } from "@mrlm/wire";

/** Probes of load balancers carry no token, and learn nothing but whether the server serves. */
const OPEN_TO_ALL = "/grpc.health.v1.Health/";

/** Refuses calls without `authorization: Bearer TOKEN`, health checks excepted, with UNAUTHENTICATED. */
export function requireToken(token: string): ServerInterceptor {
  const expected = digest(`Bearer ${token}`);
  const carriesToken = (metadata: Metadata): boolean =>
    timingSafeEqual(digest(String(metadata.get("authorization")[0] ?? "")), expected);
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

/** Equal lengths, so that the comparison tells nothing of the token, its length included. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
