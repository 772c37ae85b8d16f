/** Ways to a private address beyond its notations: answers of servers and resolvers, kept connections, proxies, robots.txt, search results. */
import { createServer } from "node:net";
import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { EnvHttpProxyAgent, getGlobalDispatcher, ProxyAgent, setGlobalDispatcher } from "undici";
import { openTools, textOf } from "./support/open-tools.ts";
import { type AttemptOptions, type PrivateNetwork, PUBLIC, startPrivateNetwork } from "./support/private-network.ts";
import { startHttp } from "./support/servers.ts";
import { resolverTricks, responseTricks, urlTricks } from "./support/ssrf-tricks.ts";

let network: PrivateNetwork;
let site: string;
let target: string;

async function refused(url: string, options?: AttemptOptions): Promise<void> {
  const { isThrough, text } = await network.attempt(url, options);
  expect(isThrough ? { url, text } : undefined).toBeUndefined();
}

beforeAll(async () => {
  network = await startPrivateNetwork();
  site = `http://public.test:${network.port}`;
  target = `http://127.0.0.1:${network.port}/`;
});
afterAll(async () => await network?.close());

/** Only Linux has 127.0.0.2 without configuration. */
const onLinux = process.platform === "linux" ? describe : describe.skip;

onLinux("tricks with URLs", () => {
  // Hosts that are no address reach the resolver, which does not know them.
  const expected = /is not accepted|may be reached|cannot be resolved/;

  const canBeHeader = (text: string): boolean => !/[\0\r\n]/.test(text);
  const classes = Object.entries(urlTricks).map(([name, templates]) => ({
    name,
    templates,
    count: templates.length + templates.filter(canBeHeader).length,
  }));

  test.each(classes)("$count attempts: $name", async ({ templates }) => {
    for (const template of templates) {
      const url = template.replaceAll("$", String(network.port));
      await refused(url, { expected });
      if (!canBeHeader(url)) continue;
      const location = `${site}/?${new URLSearchParams({ to: url })}`;
      // Relative to the site, some of these are paths of the site itself.
      await refused(location, { expected: /is not accepted|may be reached|cannot be resolved|status 404/ });
    }
  });

  test("500 random texts as URLs: each is a result, never a rejection, and reaches no private service", async () => {
    const parts = [
      "http:",
      "https:",
      "//",
      "/",
      "\\",
      "@",
      ":",
      "[",
      "]",
      "%",
      "%25",
      "#",
      "?",
      ".",
      "..",
      "0",
      "127.0.0.1",
      "::1",
      "localhost",
      "public.test",
      "xn--",
      "\u3002",
      " ",
      "\t",
      "a",
      "é",
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constantFrom(...parts, String(network.port)), fc.string({ maxLength: 3 })), {
          maxLength: 12,
        }),
        async (pieces) => await refused(`http:${pieces.join("")}`, { expected: /cannot be read/ }),
      ),
      { numRuns: 500, seed: 13 },
    );
  });
});

onLinux("tricks of servers", () => {
  test.each(Object.entries(responseTricks))("an answer with %s", async (name, answer) => {
    const path = `/trick/${encodeURIComponent(name)}`;
    network.paths[path] = (_request, response) => answer(response, target);
    await refused(site + path, { expected: null });
    await refused(site + path, { expected: null }); // the second request would follow what the first one learned
  });

  test("main content and robots.txt make no request of their own", async () => {
    network.paths["/robots.txt"] = (_request, response) =>
      response.end(`User-agent: *\nAllow: /\nSitemap: ${target}\nHost: ${target}`);
    const tools = await openTools(
      {
        fetch: { live: true, robots: true, main_content: true, ports: [network.port] },
        allow: [`${PUBLIC}:${network.port}`],
      },
      { resolve: network.resolve },
    );
    for (const name of Object.keys(responseTricks))
      await refused(`${site}/trick/${encodeURIComponent(name)}`, { expected: null, tools });
    await tools.close();
  });

  test("robots.txt of a private host, and one that redirects to a private host, are not read", async () => {
    const options = {
      fetch: { live: true, robots: true, ports: [network.port] },
      allow: [`${PUBLIC}:${network.port}`],
    };
    const tools = await openTools(options, { resolve: network.resolve });
    for (const host of ["127.0.0.1", "localhost", "loopback.test", "[::1]"])
      await refused(`http://${host}:${network.port}/`, { tools });
    for (const to of [target, "//localhost:$/robots.txt", "file:///etc/passwd"].map((one) =>
      one.replace("$", String(network.port)),
    )) {
      network.paths["/robots.txt"] = (_request, response) => response.writeHead(302, { location: to }).end();
      const own = await openTools(options, { resolve: network.resolve });
      await refused(`${site}/page`, { expected: /may be reached|robots\.txt/, tools: own });
      await own.close();
    }
    delete network.paths["/robots.txt"];
    await tools.close();
  });

  test("several Location headers, and bytes after the response", async () => {
    const raw = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (data) => {
        if (data.includes("GET /two"))
          socket.end(`HTTP/1.1 302 Found\r\nlocation: /page\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`);
        else
          socket.write(
            `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\ntext` +
              `HTTP/1.1 302 Found\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`,
          );
      });
    });
    await new Promise<void>((resolve) => raw.listen(0, PUBLIC, resolve));
    const { port } = raw.address() as { port: number };
    const tools = await openTools(
      { fetch: { live: true, timeout_ms: 3000 }, allow: [PUBLIC] },
      { resolve: network.resolve },
    );
    await refused(`http://${PUBLIC}:${port}/two`, { expected: null, tools });
    await refused(`http://${PUBLIC}:${port}/more`, { expected: null, tools });
    await refused(`http://${PUBLIC}:${port}/more`, { expected: null, tools });
    await tools.close();
    await new Promise((resolve) => raw.close(resolve));
  });

  test("a connection offers no HTTP/2, and is not used for a second request", async () => {
    const hellos: Buffer[] = [];
    const tls = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (data) => {
        hellos.push(data);
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => tls.listen(0, PUBLIC, resolve));
    const { port } = tls.address() as { port: number };
    const tools = await openTools({ fetch: { live: true }, allow: [PUBLIC] }, { resolve: network.resolve });
    for (const host of ["public.test", PUBLIC])
      await refused(`https://${host}:${port}/`, { expected: /cannot be read/, tools });
    await tools.close();
    await new Promise((resolve) => tls.close(resolve));
    expect(hellos.length).toBe(2);
    for (const hello of hellos) expect([hello[0], hello.includes("\u0002h2")]).toEqual([0x16, false]);
  });
});

onLinux("tricks of resolvers", () => {
  test.each(resolverTricks.map((addresses, index) => ({ addresses, host: `resolver${index}.test` })))(
    "$addresses",
    async ({ addresses, host }) => {
      network.names[host] = [[...addresses]];
      await refused(`http://${host}:${network.port}/`, { expected: /may be reached/ });
      await refused(`${site}/?${new URLSearchParams({ to: `http://${host}:${network.port}/` })}`, {
        expected: /may be reached/,
      });
    },
  );

  test("after a kept connection the name is resolved again", async () => {
    network.paths["/kept"] = (_request, response) =>
      response
        .writeHead(200, {
          connection: "keep-alive",
          "keep-alive": "timeout=999, max=999",
          "content-type": "text/plain",
        })
        .end("kept");
    network.names["kept.test"] = [[PUBLIC], ["127.0.0.1"], [PUBLIC], ["::1", "127.0.0.1"]];
    const url = `http://kept.test:${network.port}/kept`;
    expect(textOf(await network.tools.call("fetch", { url }))).toContain("kept");
    await refused(url);
    expect(textOf(await network.tools.call("fetch", { url }))).toContain("kept");
    await refused(url);
  });

  test("parallel requests of one name are checked each", async () => {
    network.names["race.test"] = [[PUBLIC], ["127.0.0.1"], [PUBLIC], ["127.0.0.1"], ["::1"]];
    const url = `http://race.test:${network.port}/page`;
    const before = network.reached();
    const results = await Promise.all(Array.from({ length: 20 }, () => network.tools.call("fetch", { url })));
    network.count(network.reached() !== before);
    expect(results.filter(({ isError }) => !isError).length).toBe(2);
    expect(network.reached()).toBe(before);
  });

  test("names that the system resolves to this machine", async () => {
    const tools = await openTools({ fetch: { live: true, ports: [network.port] } });
    for (const host of [
      "localhost",
      "LOCALHOST.",
      "ip6-localhost",
      "ip6-loopback",
      hostname(),
      `${hostname()}.`,
      "0",
      "0x7f.1",
    ])
      await refused(`http://${host}:${network.port}/`, {
        expected: /may be reached|cannot be resolved|is not accepted/,
        tools,
      });
    await tools.close();
  });
});

onLinux("proxies and search services", () => {
  test.each(["ProxyAgent", "EnvHttpProxyAgent"])("a global %s of the process is not used", async (kind) => {
    const before = getGlobalDispatcher();
    const agent =
      kind === "ProxyAgent"
        ? new ProxyAgent(target)
        : new EnvHttpProxyAgent({ httpProxy: target, httpsProxy: target, noProxy: "" });
    setGlobalDispatcher(agent);
    try {
      await refused(`${site}/none`, { expected: /status 404/ });
      await refused(target);
    } finally {
      setGlobalDispatcher(before);
      await agent.close();
    }
  });

  test.each([
    "NO_PROXY",
    "no_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "GLOBAL_AGENT_HTTP_PROXY",
    "npm_config_proxy",
  ])("%s changes nothing", async (name) => {
    const before = process.env[name];
    process.env[name] = name.toLowerCase() === "no_proxy" ? "*" : target;
    try {
      await refused(`${site}/none`, { expected: /status 404/ });
      await refused(target);
    } finally {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    }
  });

  test("results of a search service lead to no private host, and neither does its redirect", async () => {
    const urls = [
      target,
      `http://localhost:${network.port}/`,
      "file:///etc/passwd",
      "javascript:1",
      `//127.0.0.1:${network.port}/`,
    ];
    let isRedirecting = false;
    const service = await startHttp((_request, response) =>
      isRedirecting
        ? response.writeHead(302, { location: target }).end()
        : response.end(JSON.stringify({ results: urls.map((url) => ({ url, title: "t", content: "c" })) })),
    );
    const tools = await openTools(
      { search: { provider: "searxng", url: `http://127.0.0.1:${service.port}` } },
      { resolve: network.resolve },
    );
    const before = network.reached();
    const found = textOf(await tools.call("search", { query: "words" }));
    expect(found).not.toMatch(/file:|javascript:/);
    for (const [url] of found.matchAll(/\S+:\/\/\S+/g)) await refused(url, { tools });
    isRedirecting = true;
    await expect(tools.call("search", { query: "others" })).rejects.toMatchObject({ code: "TOOL_FAILED" });
    network.count(network.reached() !== before);
    expect(network.reached()).toBe(before);
    await tools.close();
    await service.close();
  });
});

onLinux("counts", () => {
  test("at least 600 attempts were made, and none was successful", () => {
    expect(network.attempts.all).toBeGreaterThanOrEqual(600);
    expect(network.attempts.through).toBe(0);
  });
});
