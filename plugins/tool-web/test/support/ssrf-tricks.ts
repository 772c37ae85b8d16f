import type { ServerResponse } from "node:http";

/** Further URLs, by the classes that parsers of URLs and resolvers disagree on. `$` stands for the port of the private services. */
export const urlTricks: Readonly<Record<string, readonly string[]>> = {
  "zones of IPv6 addresses": [
    "http://[::1%25lo]:$/",
    "http://[::1%lo]:$/",
    "http://[::1%251]:$/",
    "http://[::ffff:127.0.0.1%25lo]:$/",
    "http://[fe80::1%25eth0]:$/",
    "http://[fe80::1%2525lo]:$/",
    "http://[::1%00]:$/",
    "http://[::1]%25lo:$/",
  ],
  "labels without characters, and dots": [
    "http://localhost..:$/",
    "http://.localhost:$/",
    "http://..localhost:$/",
    "http://127.0.0.1..:$/",
    "http://127..0.0.1:$/",
    "http://.127.0.0.1:$/",
    "http://loopback..test:$/",
    "http://.:$/",
    "http://..:$/",
    "http://[::1].:$/",
    "http://localhost%2e:$/",
    "http://localhost%2e%2e:$/",
    "http://localhost。:$/",
    "http://loopback.test。:$/",
  ],
  "percent signs in the host": [
    "http://%6c%6f%63%61%6c%68%6f%73%74:$/",
    "http://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1:$/",
    "http://%5b::1%5d:$/",
    "http://[%3A%3A1]:$/",
    "http://127.0.0.1%00.public.test:$/",
    "http://127.0.0.1%23.public.test:$/",
    "http://127.0.0.1%2f.public.test:$/",
    "http://127.0.0.1%3f@public.test:$/",
    "http://127.0.0.1%5c@public.test:$/",
    "http://127.0.0.1%09:$/",
    "http://127.0.0.1%20:$/",
    "http://%00127.0.0.1:$/",
    "http://%25%33%31%32%37.0.0.1:$/",
    "http://%2531%2532%2537.0.0.1:$/",
  ],
  "digits and letters of Unicode": [
    "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:$/",
    "http://𝟙𝟚𝟟.𝟘.𝟘.𝟙:$/",
    "http://¹²⁷.⁰.⁰.¹:$/",
    "http://₁₂₇.₀.₀.₁:$/",
    "http://١٢٧.٠.٠.١:$/",
    "http://१२७.०.०.१:$/",
    "http://𝟎𝐱𝟕𝐟.𝟏:$/",
    "http://𝟐𝟏𝟑𝟎𝟕𝟎𝟔𝟒𝟑𝟑:$/",
    "http://localhoſt:$/",
    "http://ℓocalhost:$/",
    "http://𝓁𝑜𝒸𝒶𝓁𝒽𝑜𝓈𝓉:$/",
    "http://lo\u034fcalhost:$/",
    "http://local\u2060host:$/",
    "http://127.0.0.1\ufeff:$/",
    "http://\u202e127.0.0.1:$/",
    "http://xn--localhost-:$/",
    "http://127.0.0.xn--1-:$/",
  ],
  "user information": [
    "http://@127.0.0.1:$/",
    "http://:@127.0.0.1:$/",
    "http://public.test:$@127.0.0.1:$/",
    "http://a@b@127.0.0.1:$/",
    "http://127.0.0.1:$%40public.test/",
    "http://public.test%20@127.0.0.1:$/",
    "http://[::1]@127.0.0.1:$/",
    "http://127.0.0.1:$;@public.test/",
    "http://public.test&@127.0.0.1:$#@public.test/",
    "http:@127.0.0.1:$/",
    "http:/@127.0.0.1:$/",
  ],
  "numbers and brackets": [
    "http://[127.0.0.1]:$/",
    "http://[::127.1]:$/",
    "http://[0:0:0:0:0:FFFF:7F00:1]:$/",
    "http://[::ffff:0x7f.0.0.1]:$/",
    "http://4294967297:$/",
    "http://127.0.0.1.0:$/",
    "http://127.0.0.256:$/",
    "http://0x7f.0x0.0x0.0x1:$/",
    "http://0177.0.0.0x1:$/",
    "http://0b1111111.0.0.1:$/",
    "http://127.65535.1:$/",
    "http://00000000000000000000000000177.0.0.1:$/",
    "http://0x00000000000000000000007f000001:$/",
    "http://00177.0.0.1:$/",
    "http://-127.0.0.1:$/",
    "http://127.0.0.1e0:$/",
    "http://127,0,0,1:$/",
  ],
  ports: [
    "http://127.0.0.1:0$/",
    "http://127.0.0.1:0000000$/",
    "http://127.0.0.1:+$/",
    "http://127.0.0.1:$:80/",
    "http://127.0.0.1:80:$/",
    "http://127.0.0.1: $/",
    "http://public.test:22/",
    "http://public.test:0/",
    "http://127.0.0.2:22/",
    "http://127.0.0.3:$/",
    "http://[::127.0.0.2]:$/",
    "http://[2002:7f00:2::]:$/",
    "http://[64:ff9b::7f00:2]:$/",
  ],
  "reserved networks": [
    "http://[3fff::1]:$/",
    "http://[2001:20::1]:$/",
    "http://[2001:2::1]:$/",
    "http://[2001:db8::1]:$/",
    "http://[fe80::5efe:7f00:1]:$/",
    "http://[fd00:a9fe:a9fe::1]:$/",
    "http://[fd20:ce::254]:$/",
    "http://[ff0e::1]:$/",
    "http://192.88.99.1:$/",
    "http://192.175.48.1:$/",
    "http://100.127.255.254:$/",
    "http://169.254.42.42:$/",
    "http://169.254.0.23:$/",
    "http://255.255.255.254:$/",
  ],
  "line breaks and spaces": [
    "http://127.0.0.1:$\r\n/",
    "http://public.test:$/ HTTP/1.1\r\nHost: 127.0.0.1:$\r\n\r\n",
    "http://public.test\u00a0@127.0.0.1:$/",
    "http://127.0.0.1\u3000:$/",
    "http://127.0.0.1\u0085:$/",
    "h\u0000ttp://127.0.0.1:$/",
    "\u0000http://127.0.0.1:$/",
    "\ufeffhttp://127.0.0.1:$/",
    "url:http://127.0.0.1:$/",
    "http::127.0.0.1:$/",
    "http//127.0.0.1:$/",
  ],
  "other schemes": [
    "dict://127.0.0.1:$/d",
    "ldap://127.0.0.1:$/",
    "tftp://127.0.0.1:$/",
    "jar:http://127.0.0.1:$/!/",
    "netdoc:///etc/passwd",
    "sftp://127.0.0.1:$/",
    "wss://127.0.0.1:$/",
    "http2://127.0.0.1:$/",
    "httpx://127.0.0.1:$/",
    "about:blank",
    "node:fs",
    "filesystem:http://127.0.0.1:$/x",
    "feed:http://127.0.0.1:$/",
  ],
};

type Answer = (response: ServerResponse, target: string) => void;

/** Answers of a server that mention a private service, by name. No client may follow them. */
export const responseTricks: Readonly<Record<string, Answer>> = {
  "Alt-Svc": (response, target) => page(response, { "alt-svc": `http/1.1="${hostOf(target)}"; ma=99999` }),
  "Alt-Svc of HTTP/2": (response, target) =>
    page(response, { "alt-svc": `h2="${hostOf(target)}", h3="${hostOf(target)}"` }),
  Refresh: (response, target) => page(response, { refresh: `0;url=${target}` }),
  "Link preload": (response, target) => page(response, { link: `<${target}>; rel=preload; as=document` }),
  "Content-Location": (response, target) => page(response, { "content-location": target }),
  "Location of 201": (response, target) => page(response, { location: target }, 201),
  "Location of 200": (response, target) => page(response, { location: target }),
  "Location of 300": (response, target) => page(response, { location: target }, 300),
  "Location of 304": (response, target) => page(response, { location: target }, 304),
  "Use Proxy of 305": (response, target) => page(response, { location: target }, 305),
  "Location of 306": (response, target) => page(response, { location: target }, 306),
  "407": (response, target) =>
    page(response, { "proxy-authenticate": `Basic realm="${target}"`, location: target }, 407),
  "401 with a login page": (response, target) =>
    page(response, { "www-authenticate": `Basic realm="${target}"`, location: target }, 401),
  "report endpoints": (response, target) =>
    page(response, {
      "report-to": `{"group":"a","max_age":9,"endpoints":[{"url":"${target}"}]}`,
      nel: '{"report_to":"a","max_age":9}',
    }),
  "early hints": (response, target) => {
    response.writeEarlyHints({ link: `<${target}>; rel=preload` });
    page(response, {});
  },
  "meta refresh": (response, target) =>
    page(response, {}, 200, `<meta http-equiv=refresh content="0;url=${target}"><p>text`),
  "frames and pictures": (response, target) =>
    page(
      response,
      {},
      200,
      `<iframe src="${target}"></iframe><img src="${target}" srcset="${target} 2x"><embed src="${target}"><object data="${target}"></object><video poster="${target}" src="${target}"></video>`,
    ),
  "frame set": (response, target) => page(response, {}, 200, `<frameset><frame src="${target}"></frameset>`),
  scripts: (response, target) =>
    page(
      response,
      {},
      200,
      `<script src="${target}"></script><script>fetch("${target}");import("${target}")</script><body onload='fetch("${target}")'>`,
    ),
  styles: (response, target) =>
    page(
      response,
      {},
      200,
      `<link rel=stylesheet href="${target}"><style>@import url("${target}"); p { background: url("${target}") }</style><p style="background:url(${target})">x`,
    ),
  base: (response, target) => page(response, {}, 200, `<base href="${target}"><a href=x>x</a><img src=y>`),
  "manifest and prefetch": (response, target) =>
    page(
      response,
      {},
      200,
      `<html manifest="${target}"><link rel=prefetch href="${target}"><link rel=dns-prefetch href="${target}"><link rel=icon href="${target}">`,
    ),
  SVG: (response, target) =>
    page(
      response,
      { "content-type": "image/svg+xml" },
      200,
      `<svg xmlns="http://www.w3.org/2000/svg"><image href="${target}"/><use href="${target}#x"/></svg>`,
    ),
  "external entity": (response, target) =>
    page(
      response,
      { "content-type": "application/xml" },
      200,
      `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "${target}">]><a>&x;</a>`,
    ),
  "external entity of XHTML": (response, target) =>
    page(
      response,
      { "content-type": "application/xhtml+xml" },
      200,
      `<?xml version="1.0"?><!DOCTYPE html [<!ENTITY % x SYSTEM "${target}"> %x;]><html><body>&x;</body></html>`,
    ),
  "document type": (response, target) =>
    page(response, {}, 200, `<!DOCTYPE html PUBLIC "-//X//DTD" "${target}"><p>text`),
  "style sheet of XML": (response, target) =>
    page(
      response,
      { "content-type": "text/xml" },
      200,
      `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="${target}"?><a/>`,
    ),
  XInclude: (response, target) =>
    page(
      response,
      { "content-type": "application/xml" },
      200,
      `<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="${target}"/></a>`,
    ),
  Markdown: (response, target) =>
    page(response, { "content-type": "text/markdown" }, 200, `![x](${target}) [y](${target})\n\n<img src="${target}">`),
  sitemap: (response, target) =>
    page(
      response,
      { "content-type": "application/xml" },
      200,
      `<sitemapindex><sitemap><loc>${target}</loc></sitemap></sitemapindex>`,
    ),
  "compression dictionary": (response, target) =>
    page(response, { "use-as-dictionary": 'match="/*"', link: `<${target}>; rel="compression-dictionary"` }),
};

const hostOf = (target: string): string => new URL(target).host;

function page(
  response: ServerResponse,
  headers: Record<string, string>,
  status = 200,
  text = "<p>text of the page",
): void {
  response.writeHead(status, { "content-type": "text/html", ...headers }).end(text);
}

/** Answers of a resolver that stand for no address that may be connected to. */
export const resolverTricks: readonly (readonly string[])[] = [
  [],
  [""],
  ["localhost"],
  ["127.1"],
  ["0177.0.0.1"],
  ["2130706433"],
  ["0x7f000001"],
  ["127.0.0.1 "],
  ["127.0.0.1\0"],
  ["127.0.0.1%lo"],
  ["::1%lo"],
  ["[::1]"],
  ["::127.0.0.1"],
  ["::ffff:7f00:1"],
  ["::ffff:0:7f00:1"],
  ["64:ff9b::7f00:1"],
  ["2002:7f00:1::"],
  ["0.0.0.0"],
  ["::"],
  ["fe80::1%eth0"],
  ["169.254.169.254", "127.0.0.1", "::1", "10.0.0.1"],
];
