import { WebError } from "./web-error.ts";

/** Longest URL that is opened. */
export const MAX_URL_CHARACTERS = 2048;

/**
 * Parses the URL of a page by the WHATWG rules, relative to `base` if given. The result is the only reading of the text: the host that is checked is
 * the host that is connected to. Texts that programs read in different ways (backslashes, control characters, user names) are refused.
 * @throws WebError `url`
 */
export function parseWebUrl(text: string, base?: URL): URL {
  const trimmed = text.trim();
  if (trimmed.length > MAX_URL_CHARACTERS) throw refusal(`it has more than ${MAX_URL_CHARACTERS} characters`);
  if (/[\u0000-\u0020\u007f\\]/.test(trimmed)) throw refusal("it has a space, a control character or a backslash");
  const url = URL.parse(trimmed, base?.href);
  if (url === null) throw refusal("it is not an absolute URL such as https://example.org/page");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refusal("its scheme is not http or https");
  if (url.username !== "" || url.password !== "") throw refusal("it has a user name or a password");
  // `example.org.` and `example.org` are the same host.
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.replace(/\.+$/, "");
  if (url.hostname === "") throw refusal("it has no host");
  url.hash = "";
  return url;
}

const refusal = (why: string): WebError => new WebError("url", `The URL is not accepted: ${why}.`);
