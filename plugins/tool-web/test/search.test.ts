import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { options } from "../src/options.ts";
import { createWebToolset } from "../src/web-toolset.ts";
import { type OpenTools, openTools, textOf } from "./support/open-tools.ts";
import { startHttp } from "./support/servers.ts";

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "mrlm-corpus-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

const FILES = {
  "lakes.html":
    "<title>Lakes</title><p>The <a href=rivers/po.md>Po</a> is not a lake. Lake Garda has an area of 370 km².",
  "rivers/po.md": "# Po\n\nThe Po is 652 km long. It is the longest river of Italy.",
  "rows.jsonl":
    '{"url":"https://example.org/tiber","title":"Tiber","text":"The Tiber flows through Rome."}\n\n{"html":"<title>Arno</title><p>The Arno flows through Florence."}\n',
  "notes.txt": "Unrelated notes.",
  ".hidden.md": "# Hidden lake",
  "picture.png": "lake",
};

const searchFor = async (tools: OpenTools, query: string, count?: number): Promise<string> =>
  textOf(await tools.call("search", { query, ...(count === undefined ? {} : { count }) }));

describe("a folder", () => {
  test("pages of each format are found and can be fetched", async () => {
    const tools = await openTools({ search: { provider: "folder", folder: await folderOf(FILES) } });
    expect(await searchFor(tools, "longest river", 1)).toBe(
      "1. Po\n   https://corpus.invalid/rivers/po.md\n   The Po is 652 km long. It is the longest river of Italy.",
    );
    expect(await searchFor(tools, "garda area")).toContain("https://corpus.invalid/lakes.html");
    expect(await searchFor(tools, "Rome")).toContain("https://example.org/tiber");
    expect(await searchFor(tools, "Florence")).toContain("1. Arno\n   https://corpus.invalid/rows.jsonl/2");
    expect(await searchFor(tools, "hidden")).toContain("No page was found");
    expect(textOf(await tools.call("fetch", { url: "https://corpus.invalid/lakes.html" }))).toContain(
      "[Po](https://corpus.invalid/rivers/po.md)",
    );
    expect(textOf(await tools.call("fetch", { url: "https://example.org/tiber" }))).toContain("flows through Rome");
    expect(await tools.call("fetch", { url: "https://example.org/" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("No page has this URL") }],
    });
    await tools.close();
  });

  test("results do not depend on the order of the files", async () => {
    const pages = Array.from(
      { length: 30 },
      (_value, index) => [`${index}.md`, `# Page ${index}\n\nthe same words`] as const,
    );
    const texts = [];
    for (const order of [pages, pages.toReversed()]) {
      const tools = await openTools({}, { files: Object.fromEntries(order) });
      texts.push(await searchFor(tools, "same words", 10));
      await tools.close();
    }
    expect(texts[0]).toBe(texts[1]);
  });

  test("without a folder the files of the task are searched", async () => {
    const tools = await openTools({}, { files: FILES });
    expect(await searchFor(tools, "longest")).toContain("rivers/po.md");
    await tools.close();
    const data = await openTools(
      {},
      { files: { "po.md": "# Po", "table.jsonl": '{"length":652}\n', "x.jsonl": "no JSON" } },
    );
    expect(await searchFor(data, "Po")).toContain("po.md");
    await data.close();
    const broken = await openTools({}, { files: { "a.jsonl": '{"text":"a"}\n{"length":652}' } });
    await expect(searchFor(broken, "a")).rejects.toMatchObject({ code: "DATA_INVALID" });
    await broken.close();
    const empty = await openTools({});
    expect(await searchFor(empty, "longest")).toContain("No page was found");
    await empty.close();
  });

  test("denied pages are neither found nor fetched", async () => {
    const tools = await openTools({
      search: { provider: "folder", folder: await folderOf(FILES) },
      deny: { hosts: ["example.org"], urls: ["*/rivers/*"] },
    });
    expect(await searchFor(tools, "Rome Tiber longest Po")).not.toMatch(/tiber|rivers\/po.md\n/);
    expect(textOf(await tools.call("fetch", { url: "https://example.org/tiber" }))).toContain("deny-list");
    await tools.close();
  });

  test.each([
    [{}, /has no page/],
    [{ "a.jsonl": "not json" }, /a\.jsonl:1: the line is not JSON/],
    [{ "a.jsonl": '{"text":"a"}\n{"title":"b"}' }, /a\.jsonl:2: the row has no text/],
    [{ "a.jsonl": '{"text":"a","url":"http://["}' }, /a\.jsonl:1: `url` is not a URL/],
    [
      { "a.jsonl": '{"text":"a","url":"https://x.test"}\n{"text":"b","url":"https://x.test/#b"}' },
      /Two pages .* https:\/\/x\.test\//,
    ],
  ])("the folder %j is rejected before an episode begins", async (files, message) => {
    const folder = await folderOf(files as Record<string, string>);
    await expect(openTools({ search: { provider: "folder", folder } })).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringMatching(message),
    });
  });

  test("a folder that does not exist is rejected before an episode begins", async () => {
    await expect(openTools({ search: { provider: "folder", folder: "/does/not/exist" } })).rejects.toMatchObject({
      code: "DATA_INVALID",
    });
  });
});

const RESULTS = (snippet: string) => [
  { url: "https://a.test/", title: "A <strong>word</strong>", [snippet]: "about <b>words</b>" },
  { url: "https://denied.test/x", title: "Denied", [snippet]: "" },
  { url: "javascript:alert(1)", title: "Not a page", [snippet]: "" },
  { url: "https://b.test/", title: "", [snippet]: null },
];

describe("search services", () => {
  const answers = {
    searxng: { results: RESULTS("content") },
    brave: { query: {}, web: { results: RESULTS("description") } },
    tavily: { results: RESULTS("content") },
  };

  test.each(["searxng", "brave", "tavily"] as const)(
    "%s is asked in its form, and its results are filtered",
    async (provider) => {
      let request: { method: string | undefined; url: URL; headers: Record<string, unknown> } | undefined;
      const server = await startHttp(({ method, url, headers }, response) => {
        request = { method, url: new URL(url!, "http://x"), headers };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answers[provider]));
      });
      const url = `http://127.0.0.1:${server.port}`;
      process.env["WEB_TEST_KEY"] = "key";
      const tools = await openTools({
        search: { provider, url, ...(provider === "searxng" ? {} : { key_env: "WEB_TEST_KEY" }) },
        deny: { hosts: ["denied.test"] },
      } as Parameters<typeof openTools>[0]);
      delete process.env["WEB_TEST_KEY"];
      expect(await searchFor(tools, "two words", 3)).toBe(
        "1. A word\n   https://a.test/\n   about words\n\n2. https://b.test/\n   https://b.test/\n   ",
      );
      const { method, url: asked, headers } = request!;
      if (provider === "searxng")
        expect([method, asked.pathname, asked.searchParams.get("q"), asked.searchParams.get("format")]).toEqual([
          "GET",
          "/search",
          "two words",
          "json",
        ]);
      if (provider === "brave")
        expect([method, asked.pathname, asked.searchParams.get("q"), headers["x-subscription-token"]]).toEqual([
          "GET",
          "/res/v1/web/search",
          "two words",
          "key",
        ]);
      if (provider === "tavily")
        expect([method, asked.pathname, headers["authorization"], headers["content-type"]]).toEqual([
          "POST",
          "/search",
          "Bearer key",
          "application/json",
        ]);
      await tools.close();
      await server.close();
    },
  );

  test.each([
    ["an error status", 429, "{}", /status 429/],
    ["another form", 200, "{}", /no list of results/],
    ["no JSON", 200, "<html>", /no list of results/],
    ["a redirect", 302, "", /status 302/],
  ])("%s makes the tool fail: the step is unscored", async (_name, status, body, message) => {
    const server = await startHttp((_request, response) =>
      response.writeHead(status, { location: "http://127.0.0.1:1/" }).end(body),
    );
    const tools = await openTools({ search: { provider: "searxng", url: `http://127.0.0.1:${server.port}` } });
    await expect(tools.call("search", { query: "a" })).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringMatching(message),
    });
    await server.close();
    await expect(tools.call("search", { query: "a" })).rejects.toMatchObject({ code: "TOOL_FAILED" });
    await tools.close();
  });

  test("a policy chooses no engine of SearXNG, and a query without a word is an error that it reads", async () => {
    const queries: (string | null)[] = [];
    const server = await startHttp(({ url }, response) => {
      queries.push(new URL(url!, "http://x").searchParams.get("q"));
      response.end('{"results":[]}');
    });
    const tools = await openTools({ search: { provider: "searxng", url: `http://127.0.0.1:${server.port}` } });
    for (const query of ["!!g rivers", "!wp rivers :de <9", "what? a: b! rivers !!"]) await searchFor(tools, query);
    expect(queries).toEqual(["g rivers", "wp rivers de 9", "what? a: b! rivers "]);
    expect(await tools.call("search", { query: " \t" })).toMatchObject({ isError: true });
    await tools.close();
    await server.close();
  });

  test.each(["brave", "tavily"] as const)("the missing key of %s is a fault of the options", (provider) => {
    const { error } = options.safeParse({ search: { provider, key_env: "WEB_TEST_NO_KEY" } });
    expect(error?.issues).toEqual([
      expect.objectContaining({
        path: ["search", "key_env"],
        message: expect.stringContaining("WEB_TEST_NO_KEY is not set"),
      }),
    ]);
  });
});

describe("determinism", () => {
  const cassette = { mode: "replay", folder: "/tmp" } as const;
  test.each([
    [{}, "full"],
    [{ fetch: { live: false } }, "full"],
    [{ fetch: { live: true } }, "none"],
    [{ fetch: { live: true }, cassette }, "replayable"],
    [{ search: { provider: "searxng", url: "https://s.test" } }, "none"],
    [{ search: { provider: "searxng", url: "https://s.test" }, fetch: { live: false } }, "none"],
    [{ search: { provider: "searxng", url: "https://s.test" }, cassette }, "replayable"],
  ] as const)("%j is %s", async (chosen, expected) => {
    const toolset = await createWebToolset(options.parse(chosen));
    expect(toolset.determinism).toBe(expected);
    await toolset.close();
  });
});

describe("options", () => {
  test.each([
    "localhost",
    "127.1",
    "0177.0.0.1",
    "10.0.0.0/33",
    "10.1/8",
    "127.0.0.1:0",
    "127.0.0.1:99999",
    "[::1",
    "",
    "*",
  ])("the entry %j of `allow` is rejected", async (entry) => {
    await expect(openTools({ allow: [entry] })).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
  });

  test.each([
    "127.0.0.1",
    "127.0.0.1:80",
    "10.0.0.0/8",
    "10.0.0.0/8:443",
    "::1",
    "[::1]:80",
    "fd00::/8",
    "[fd00::/8]:80",
  ])("the entry %j of `allow` is accepted", async (entry) => {
    await (await openTools({ allow: [entry] })).close();
  });
});
