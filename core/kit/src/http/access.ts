import type { IncomingMessage } from "node:http";
import { MrlmError } from "@mrlm/spec";
import type { Tokens } from "../access/tokens.ts";
import { acceptConnection } from "./connection-limit.ts";
import { HttpError } from "./http-error.ts";

/** Check of a request. Throws {@link HttpError} for one that is refused. @returns the name of the request's token, if it has one */
export type AccessCheck = (request: Pick<IncomingMessage, "headers" | "socket">) => string | undefined;

/**
 * Makes the check of who may send requests.
 *
 * - With a token every request carries it.
 * - Without one, a server that listens on the loopback interface answers only under a name of that interface. A web page whose host name was pointed
 *   to 127.0.0.1 (DNS rebinding) sends its own name.
 * - A browser states the page that a request comes from. Only pages of the loopback interface are accepted. Of an image or a form of another page it states
 *   the site alone: without a token these are refused, but for a link that a person follows.
 */
export function accessCheck(options: {
  readonly tokens: Tokens | undefined;
  readonly isLoopback: boolean;
}): AccessCheck {
  const { tokens, isLoopback } = options;
  return ({ headers, socket }) => {
    const { host, origin } = headers;
    if (isLoopback && tokens === undefined && !isLoopbackHost(host ?? ""))
      throw refused(
        `The request names the host ${JSON.stringify(host ?? "")}`,
        "Use the address that the server listens on, or give the server a token.",
      );
    if (origin !== undefined && !isLoopbackHost(/^https?:\/\/(.*)$/i.exec(origin)?.[1] ?? ""))
      throw refused(
        `The request comes from a web page of ${JSON.stringify(origin)}`,
        "Pages of other origins may not use this server.",
      );
    const isOfOtherSite = origin === undefined && headers["sec-fetch-site"] === "cross-site";
    if (tokens === undefined && isOfOtherSite && headers["sec-fetch-user"] !== "?1")
      throw refused("The request comes from a web page", "Pages of other sites may not use this server.");
    const holder = tokens?.holder(authorizationOf(headers));
    if (tokens !== undefined && holder === undefined)
      throw new HttpError(401, new MrlmError("UNAUTHENTICATED", "The request carries no valid token."));
    acceptConnection(socket);
    return holder?.name;
  };
}

/** Returns the header with the token. Clients of some protocols send the token as `x-api-key`. */
function authorizationOf({ authorization, "x-api-key": key }: IncomingMessage["headers"]): string | undefined {
  return authorization ?? (typeof key === "string" ? `Bearer ${key}` : undefined);
}

/**
 * Whether a host, with a port or without one, is a name of the loopback interface as it is written: a parser of URLs also reads `2130706433` as 127.0.0.1, and
 * leaves out tabs. Every name below `localhost` is of the interface too (RFC 6761, section 6.3).
 */
function isLoopbackHost(host: string): boolean {
  return /^(([a-z\d_-]+\.)*localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}

function refused(fact: string, hint: string): HttpError {
  return new HttpError(403, new MrlmError("ORIGIN_REFUSED", `${fact}, which is not of this machine.`, { hint }));
}
