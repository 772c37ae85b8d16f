import type { IncomingHttpHeaders } from "node:http";
import type { Tokens } from "@mrlm/kit/access";
import type { Exchange } from "@mrlm/kit/http";

const COOKIE = "mrlm-token";
const MAX_FORM_BYTES = 4_096;

const FORM = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>mrlm</title>
<link rel="stylesheet" href="/page.css"></head><body><main class="login"><h1>mrlm</h1><form method="post" action="/login">
<label>Token of this server <input name="token" type="password" autocomplete="current-password" autofocus required></label>
<button>Sign in</button></form></main></body></html>`;

/** Asks for the token. A browser cannot send a header with the address that a person types. */
export function loginPage({ response }: Exchange): void {
  response.writeHead(401, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" }).end(FORM);
}

/** Keeps a valid token in a cookie, which no script can read and no other site sends. */
export async function signIn(exchange: Exchange, tokens: Tokens, isSecure: boolean): Promise<void> {
  const { request, response } = exchange;
  if (request.method !== "POST") return loginPage(exchange);
  let form = "";
  for await (const chunk of request) {
    form += String(chunk);
    if (form.length > MAX_FORM_BYTES) break;
  }
  const token = new URLSearchParams(form).get("token")?.trim() ?? "";
  if (tokens.holder(`Bearer ${token}`) === undefined) return loginPage(exchange);
  const cookie = `${COOKIE}=${encodeURIComponent(token)}; HttpOnly; SameSite=Strict; Path=/${isSecure ? "; Secure" : ""}`;
  response.writeHead(303, { location: "/", "set-cookie": cookie }).end();
}

/** Returns the headers of a request with the token of its cookie. */
export function withCookie(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { authorization, cookie = "" } = headers;
  const token = cookie
    .split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${COOKIE}=`))
    ?.slice(COOKIE.length + 1);
  if (authorization !== undefined || token === undefined) return headers;
  return { ...headers, authorization: `Bearer ${decoded(token)}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
