import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { DenyList } from "../src/network/deny-list.ts";
import { type OpenTools, openTools, textOf } from "./support/open-tools.ts";
import { startHttp, type TestServer } from "./support/servers.ts";

let server: TestServer;
let site: string;
let robots: { status: number; text: string };
const requests: { url: string; headers: Record<string, unknown> }[] = [];
const opened: OpenTools[] = [];

async function open(options: Parameters<typeof openTools>[0] = {}): Promise<OpenTools> {
  const tools = await openTools({
    ...options,
    fetch: { live: true, part_characters: 300, ...options.fetch },
    allow: ["127.0.0.1"],
  });
  opened.push(tools);
  return tools;
}

const pages: Record<string, [status: number, type: string, body: string]> = {
  "/": [200, "text/html", "<title>Home</title><h1>Hello</h1><p>Some <a href=/about>link</a>."],
  "/plain": [200, "text/plain; charset=iso-8859-1", "caf\u00e9 & <b>"],
  "/json": [200, "application/json", '{"answer": 42}'],
  "/none": [200, "", "<!doctype html><p>sniffed"],
  "/binary": [200, "", "\0\0\0"],
  "/pdf": [200, "application/pdf", "%PDF-1.7"],
  "/empty": [200, "text/html", ""],
  "/private": [403, "text/html", "no"],
  "/broken": [500, "text/html", "no"],
  "/long": [
    200,
    "text/html",
    Array.from({ length: 20 }, (_value, index) => `<p>Paragraph ${index} with some words in it.</p>`).join(""),
  ],
};

beforeAll(async () => {
  server = await startHttp(({ url, headers }, response) => {
    requests.push({ url: url!, headers });
    if (url === "/robots.txt")
      return void response.writeHead(robots.status, { "content-type": "text/plain" }).end(robots.text);
    if (url === "/moved") return void response.writeHead(301, { location: "/%61bout", "set-cookie": "a=b" }).end();
    const [status, type, body] = pages[url!] ?? [404, "text/html", "<h1>not here</h1>"];
    response.writeHead(status, type === "" ? {} : { "content-type": type }).end(Buffer.from(body, "latin1"));
  });
  site = `http://127.0.0.1:${server.port}`;
});

afterAll(async () => {
  for (const tools of opened) await tools.close();
  await server.close();
});

const fetchPage = async (tools: OpenTools, path: string, part?: number) =>
  await tools.call("fetch", { url: site + path, ...(part === undefined ? {} : { part }) });

describe("fetch", () => {
  test("a page is Markdown with its title and its URL", async () => {
    expect(await fetchPage(await open(), "/")).toEqual({
      content: [{ type: "text", text: `Title: Home\nURL: ${site}/\n\n# Hello\n\nSome [link](${site}/about).` }],
      isError: false,
    });
  });

  test.each([
    ["/plain", "café & <b>"],
    ["/json", '{"answer": 42}'],
    ["/none", "sniffed"],
    ["/empty", "(The page has no text.)"],
  ])("%s is read", async (path, expected) => {
    const result = await fetchPage(await open(), path);
    expect([result.isError, textOf(result)]).toEqual([false, expect.stringContaining(expected)]);
  });

  test.each([
    ["/missing", "status 404 (the page does not exist)"],
    ["/private", "status 403 (the page is not public)"],
    ["/broken", "status 500 (the server failed)"],
    ["/pdf", "which is not text"],
    ["/binary", "which is not text"],
  ])("%s is an error that the policy reads", async (path, expected) => {
    const result = await fetchPage(await open(), path);
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining(expected)]);
  });

  test("a server that is down and a host that does not exist are errors that the policy reads", async () => {
    const down = await startHttp(() => undefined);
    await down.close();
    const tools = await openTools(
      { fetch: { live: true }, allow: ["127.0.0.1"] },
      { resolve: (_name, _options, done) => done(Object.assign(new Error("x"), { code: "ENOTFOUND" }), []) },
    );
    expect(await tools.call("fetch", { url: `http://127.0.0.1:${down.port}/` })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("cannot be reached") }],
    });
    expect(await tools.call("fetch", { url: "http://nowhere.test/" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("does not exist") }],
    });
  });

  test("the parts of a page come from one reading of it", async () => {
    const tools = await open();
    const before = requests.length;
    const first = textOf(await fetchPage(tools, "/long"));
    expect(first).toMatch(/Part 1 of (\d+)\./);
    const count = Number(/of (\d+)\./.exec(first)![1]);
    const texts = [first];
    for (let part = 2; part <= count; part++) texts.push(textOf(await fetchPage(tools, "/long", part)));
    for (let index = 0; index < 20; index++)
      expect(texts.filter((text) => text.includes(`Paragraph ${index} with`)).length).toBe(1);
    expect(requests.length - before).toBe(1);
    expect(await fetchPage(tools, "/long", count + 1)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(`has ${count} parts`) }],
    });
  });

  test("a request has no cookie and no referrer, also after a redirect", async () => {
    await fetchPage(await open(), "/moved");
    const { url, headers } = requests.at(-1)!;
    expect(url).toBe("/%61bout");
    expect([headers["cookie"], headers["referer"], headers["user-agent"]]).toEqual([
      undefined,
      undefined,
      "mrlm-tool-web/1",
    ]);
  });
});

describe("robots.txt", () => {
  test.each([
    [200, "User-agent: *\nDisallow: /plain", "/plain", true],
    [200, "User-agent: *\nDisallow: /plain", "/json", false],
    [200, "User-agent: *\nDisallow: /\nAllow: /json", "/json", false],
    [200, "User-agent: mrlm-tool-web\nDisallow: /", "/json", true],
    [404, "", "/json", false],
    [503, "", "/json", true],
  ])("with the status %i and the text %j %s is refused: %s", async (status, text, path, isRefused) => {
    robots = { status, text };
    const result = await fetchPage(await open({ fetch: { robots: true } }), path);
    expect([result.isError, textOf(result).includes("robots.txt")]).toEqual([isRefused, isRefused]);
  });

  test("a caller that is aborted does not disturb another one that waits for the same file", async () => {
    const waiting = Promise.withResolvers<void>();
    const slow = await startHttp(({ url }, response) => {
      if (url === "/robots.txt") void waiting.promise.then(() => response.writeHead(404).end());
      else response.writeHead(200, { "content-type": "text/plain" }).end("page");
    });
    const tools = await open({ fetch: { robots: true } });
    const abort = new AbortController();
    const url = `http://127.0.0.1:${slow.port}/`;
    const first = tools.call("fetch", { url }, abort.signal);
    const second = tools.call("fetch", { url });
    abort.abort(new Error("stopped"));
    await expect(first).rejects.toThrow("stopped");
    waiting.resolve();
    expect(textOf(await second)).toContain("page");
    await slow.close();
  });

  test("it holds for the target of a redirect, and is read once", async () => {
    robots = { status: 200, text: "User-agent: *\nDisallow: /about" };
    const tools = await open({ fetch: { robots: true } });
    const before = requests.length;
    expect(textOf(await fetchPage(tools, "/moved"))).toContain("robots.txt");
    expect(requests.slice(before).map(({ url }) => url)).toEqual(["/robots.txt", "/moved"]);
  });
});

describe("deny-lists", () => {
  const deny = new DenyList({
    hosts: ["denied.org", "Bücher.example"],
    urls: ["https://hub.test/datasets/secret*", "*://wiki.test/*/answers?*", "café.test/über*"],
  });

  test.each([
    "https://denied.org/",
    "http://DENIED.org:8080/x",
    "https://denied.org./",
    "https://www.denied.org/",
    "https://a.b.denied.org/",
    "https://d%65nied.org/",
    "https://ｄｅｎｉｅｄ.org/",
    "https://denied。org/",
    "https://bücher.example/",
    "https://xn--bcher-kva.example/",
    "https://archive.test/web/2024/https://denied.org/page",
    "https://archive.test/web/2024/https%3A%2F%2Fdenied.org%2Fpage",
    "https://archive.test/get?url=https%253A%252F%252Fwww.denied.org",
    "https://denied-org.translate.test/page",
    "https://www-denied-org.translate.test/page",
    "https://hub.test/datasets/secret/rows",
    "http://hub.test/datasets/secret",
    "https://hub.test:8443/datasets/secret",
    "https://hub.test/%64atasets/SECRET",
    "https://hub.test//datasets/./secret",
    "https://hub.test/x/../datasets/secret",
    "https://hub.test/datasets%2fsecret",
    "https://wiki.test/en/answers?page=1",
    "https://café.test/%C3%BCber/1",
  ])("%s is denied", (url) => expect(deny.has(new URL(url))).toBe(true));

  test.each([
    "https://undenied.org/",
    "https://denied.organic/",
    "https://denied.org.test/",
    "https://hub.test/datasets/other",
    "https://hub.test/",
    "https://archive.test/web/2024/https://undenied.org/page",
    "https://archive.test/denied.orgx",
    "https://wiki.test/en/answers",
  ])("%s is allowed", (url) => expect(deny.has(new URL(url))).toBe(false));

  test("a denied page is not requested, also as the target of a redirect", async () => {
    const tools = await open({ deny: { urls: [`${site}/about`, `${site}/json`] } });
    const before = requests.length;
    expect(textOf(await fetchPage(tools, "/json"))).toContain("deny-list");
    expect(textOf(await fetchPage(tools, "/moved"))).toContain("deny-list");
    expect(requests.slice(before).map(({ url }) => url)).toEqual(["/moved"]);
  });

  test.each(["not a host", "https://denied.org/", "a/b", ""])("the host %j is rejected", (host) => {
    expect(() => new DenyList({ hosts: [host], urls: [] })).toThrow(
      expect.objectContaining({ code: "OPTIONS_INVALID" }),
    );
  });
});
