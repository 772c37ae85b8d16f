import { domainToASCII } from "node:url";
import { MrlmError } from "@mrlm/kit";

/**
 * Hosts and URL patterns that the tools neither return nor open, for example benchmarks whose answers are on the web. A host includes its subdomains, and
 * is also refused inside the path or query of another URL (archives, caches, translators). In a pattern `*` stands for any characters; its scheme is ignored.
 */
export class DenyList {
  readonly #hosts: readonly string[];
  /** Texts between the stars of each pattern. */
  readonly #patterns: readonly (readonly string[])[];
  readonly #mention: RegExp | undefined;

  /** @throws OPTIONS_INVALID for a host that is not the name of a host */
  constructor({ hosts, urls }: { readonly hosts: readonly string[]; readonly urls: readonly string[] }) {
    this.#hosts = hosts.map(normalHost);
    this.#patterns = urls.map((text) => normalText(asciiPattern(text)).split("*"));
    if (this.#hosts.length > 0)
      this.#mention = new RegExp(
        `(?<![a-z0-9-])(?:${this.#hosts.map(escapePattern).join("|")})(?![a-z0-9-]|\\.[a-z0-9])`,
      );
  }

  has(url: URL): boolean {
    const host = url.hostname.replace(/\.+$/, "");
    if ([host, hyphenatedHost(host)].some((name) => this.#hosts.some((denied) => `.${name}`.endsWith(`.${denied}`))))
      return true;
    const rest = normalText(url.pathname + url.search);
    if (this.#mention?.test(rest) === true) return true;
    // A pattern without a port holds for every port.
    return this.#patterns.some((parts) =>
      [host + rest, `${host}:${url.port}${rest}`].some((text) => matches(text, parts)),
    );
  }
}

/** Compares a text with a pattern in linear time: a policy chooses the text, and a regular expression may need far more. */
function matches(text: string, parts: readonly string[]): boolean {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let position = first.length;
  for (const part of others) {
    const found = text.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return text.length - last.length >= position && text.endsWith(last);
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Returns the host in the form of `URL.hostname`: lower case, punycode. */
function normalHost(text: string): string {
  const url = URL.parse(`https://${text.replace(/^\*?\./, "")}/`);
  if (url === null || url.pathname !== "/" || url.port !== "" || url.username !== "")
    throw new MrlmError(
      "OPTIONS_INVALID",
      `\`deny.hosts\` has the entry ${JSON.stringify(text)}, which is not the name of a host.`,
      {
        hint: "Write example.org; this includes its subdomains. Write patterns of URLs into `deny.urls`.",
      },
    );
  return url.hostname.replace(/\.+$/, "");
}

/** Returns the host that a translator or cache writes into one label: `en-example-org.translate.test` stands for `en.example.org`. */
function hyphenatedHost(host: string): string {
  const [label = ""] = host.split(".", 1);
  return label.replace(/--?/g, (hyphens) => (hyphens === "--" ? "-" : "."));
}

/** Returns a pattern without its scheme in the form of `URL.href`: punycode in the host, percent signs in the rest. */
function asciiPattern(text: string): string {
  const [, host = "", rest = ""] = /^(?:[a-z*]+:\/\/)?([^/]*)(.*)$/is.exec(text) ?? [];
  const labels = host.split(".").map((label) => (/[^\u0000-\u007f]/.test(label) ? domainToASCII(label) : label));
  return labels.join(".") + rest.replace(/[^\u0000-\u007f]+/g, encodeURIComponent);
}

/** Decodes percent signs, also twice encoded ones, and unifies case, slashes and dot segments: servers treat such URLs alike. */
function normalText(text: string): string {
  let decoded = text;
  for (let round = 0; round < 3; round++) {
    const next = decoded.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (next === decoded) break;
    decoded = next;
  }
  return decoded
    .toLowerCase()
    .replace(/\\/g, "/")
    .replace(/(?<!:)\/(?:\.?\/)+/g, "/");
}
