import type { DenyList } from "./deny-list.ts";
import { type Exchange, type HttpResponse, isRedirect } from "./http-exchange.ts";
import { WebError } from "./web-error.ts";
import { parseWebUrl } from "./web-url.ts";

/** Page as it was received. */
export interface WebPage extends HttpResponse {
  /** URL after redirects. */
  readonly url: URL;
}

/** Decides whether robots.txt allows a URL. */
export type RobotsCheck = (url: URL, options: { readonly signal: AbortSignal }) => Promise<boolean>;

export interface WebClientOptions {
  readonly exchange: Exchange;
  readonly deny: DenyList;
  readonly maxBytes: number;
  readonly maxRedirects: number;
  /** Time for all requests of one page. */
  readonly timeoutMs: number;
  readonly userAgent: string;
}

const ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1";

/** Gets pages by HTTP. Follows redirects itself: each target is parsed, compared with the deny-list and with robots.txt, and connected to anew. */
export class WebClient {
  readonly #options: WebClientOptions;

  constructor(options: WebClientOptions) {
    this.#options = options;
  }

  /**
   * Gets the page at a URL. No cookies and no referrer are sent.
   * @throws WebError if a rule forbids the URL or a redirect, or the server fails
   */
  async get(
    text: string,
    { signal, robots }: { signal: AbortSignal; robots?: RobotsCheck | undefined },
  ): Promise<WebPage> {
    const { exchange, maxBytes, maxRedirects, timeoutMs, userAgent } = this.#options;
    const end = performance.now() + timeoutMs;
    const headers = { accept: ACCEPT, "accept-language": "en, *;q=0.5", "user-agent": userAgent };
    let url = parseWebUrl(text);
    for (let redirects = 0; ; redirects++) {
      if (this.#options.deny.has(url))
        throw new WebError("denied", "The site or page is on the deny-list of this environment.");
      if (robots !== undefined && !(await robots(url, { signal })))
        throw new WebError("robots", "The robots.txt of the site does not allow this page.");
      const rest = Math.ceil(end - performance.now());
      if (rest <= 0) throw new WebError("timeout", "The server did not send the page in time.");
      const response = await exchange({ method: "GET", url, headers, maxBytes }, { signal, timeoutMs: rest });
      const location = response.headers["location"];
      if (!isRedirect(response.status) || location === undefined) return { ...response, url };
      if (redirects === maxRedirects)
        throw new WebError("redirect", `The server redirects more than ${maxRedirects} times.`);
      url = redirectTarget(location, url);
    }
  }
}

/** Resolves the target of a redirect. Servers send non-ASCII targets as bytes of UTF-8. */
function redirectTarget(location: string, base: URL): URL {
  try {
    return parseWebUrl(Buffer.from(location, "latin1").toString(), base);
  } catch (error) {
    if (!(error instanceof WebError)) throw error;
    throw new WebError("redirect", `The server redirects to a URL that is not accepted. ${error.message}`);
  }
}
