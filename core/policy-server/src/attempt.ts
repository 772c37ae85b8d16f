import type { IncomingHttpHeaders } from "node:http";

/** Longest idempotency key that is recorded, in characters. */
const MAX_KEY = 255;

/** Header of OpenAI's clients with the number of earlier tries of a request. */
const RETRIES = "x-stainless-retry-count";
const KEY = "idempotency-key";

/** Try of a request, as its client names it. The server answers each try: it keeps no answers. */
export interface Attempt {
  /** Number of earlier tries. */
  readonly retry?: number;
  /** Key that all tries of the request share. */
  readonly idempotencyKey?: string;
}

/** Reads the try of a request. Headers with other values are left out. */
export function attemptOf(headers: IncomingHttpHeaders): Attempt {
  const [retries, key] = [headers[RETRIES], headers[KEY]];
  return {
    ...(typeof retries === "string" && /^\d{1,6}$/.test(retries) && { retry: Number(retries) }),
    ...(typeof key === "string" && key !== "" && key.length <= MAX_KEY && { idempotencyKey: key }),
  };
}

/** Returns the headers of a response that name its try. */
export function attemptHeaders({ retry, idempotencyKey }: Attempt): Record<string, string> {
  return {
    ...(retry !== undefined && { [RETRIES]: String(retry) }),
    ...(idempotencyKey !== undefined && { [KEY]: idempotencyKey }),
  };
}
