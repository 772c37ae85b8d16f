import type { IncomingHttpHeaders } from "node:http";
import { MrlmError } from "@mrlm/spec";
import type { Tokens } from "../access/tokens.ts";
import { HttpError } from "./http-error.ts";

/** Check of the headers of a request. Throws {@link HttpError} for one that is refused. @returns the name of the request's token, if it has one */
export type AccessCheck = (headers: IncomingHttpHeaders) => string | undefined;

/**
 * Makes the check of who may send requests.
 *
 * - With a token every request carries it.
 * - Without one, a server that listens on the loopback interface answers only under a name of that interface. A web page whose host name was pointed
 *   to 127.0.0.1 (DNS rebinding) sends its own name.
 * - A browser states the page that a request comes from. Only pages of the loopback interface are accepted.
 */
export function accessCheck(options: {
  readonly tokens: Tokens | undefined;
  readonly isLoopback: boolean;
}): AccessCheck {
  const { tokens, isLoopback } = options;
  return (headers) => {
    const { host, origin } = headers;
    if (isLoopback && tokens === undefined && !isLoopbackName(`http://${host}`))
      throw refused(
        `The request names the host ${JSON.stringify(host ?? "")}`,
        "Use the address that the server listens on, or give the server a token.",
      );
    if (origin !== undefined && !isLoopbackName(origin))
      throw refused(
        `The request comes from a web page of ${JSON.stringify(origin)}`,
        "Pages of other origins may not use this server.",
      );
    const holder = tokens?.holder(authorizationOf(headers));
    if (tokens !== undefined && holder === undefined)
      throw new HttpError(401, new MrlmError("UNAUTHENTICATED", "The request carries no valid token."));
    return holder?.name;
  };
}

/** Returns the header with the token. Clients of some protocols send the token as `x-api-key`. */
function authorizationOf({ authorization, "x-api-key": key }: IncomingHttpHeaders): string | undefined {
  return authorization ?? (typeof key === "string" ? `Bearer ${key}` : undefined);
}

/** Whether the host of a URL is a name of the loopback interface. */
function isLoopbackName(url: string): boolean {
  const hostname = URL.parse(url)?.hostname ?? "";
  // Every name below `localhost` is of the loopback interface too (RFC 6761, section 6.3).
  return /^(.+\.)?localhost$/.test(hostname) || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

function refused(fact: string, hint: string): HttpError {
  return new HttpError(403, new MrlmError("ORIGIN_REFUSED", `${fact}, which is not of this machine.`, { hint }));
}
