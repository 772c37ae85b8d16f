import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { options } from "../src/options.ts";
import { type OpenTools, openTools, textOf } from "./support/open-tools.ts";
import { startHttp, type TestServer } from "./support/servers.ts";

type Mode = "record" | "replay" | "replay-or-fail";

let folder: string;
let server: TestServer;
let site: string;
let answers = 0;

beforeAll(async () => {
  server = await startHttp(({ url }, response) => {
    answers++;
    if (url === "/moved") response.writeHead(302, { location: "/page" }).end();
    else if (url === "/missing") response.writeHead(404).end();
    else if (url === "/cut") response.socket!.destroy();
    else if (url?.startsWith("/search") === true)
      response.end(JSON.stringify({ results: [{ url: "https://a.test/", title: `answer ${answers}`, content: "" }] }));
    else
      response
        .writeHead(200, { "content-type": "text/plain", "set-cookie": "session=secret-cookie" })
        .end(`answer ${answers}`);
  });
  site = `http://127.0.0.1:${server.port}`;
});
beforeEach(async () => {
  process.env["TAVILY_API_KEY"] = "secret-key";
  folder = await mkdtemp(join(tmpdir(), "mrlm-cassette-"));
});
afterEach(async () => await rm(folder, { recursive: true }));
afterAll(async () => {
  delete process.env["TAVILY_API_KEY"];
  await server.close();
});

async function withTools<T>(mode: Mode, work: (tools: OpenTools) => Promise<T>): Promise<T> {
  const tools = await openTools({
    fetch: { live: true },
    search: { provider: "tavily", url: site },
    allow: ["127.0.0.1"],
    cassette: { mode, folder },
  });
  try {
    return await work(tools);
  } finally {
    await tools.close();
  }
}
const read = async (mode: Mode, path: string): Promise<string> =>
  await withTools(mode, async (tools) => textOf(await tools.call("fetch", { url: site + path })));

describe("cassettes", () => {
  test("`replay` sends a request once, also in another process with the same folder", async () => {
    const first = await read("replay", "/moved");
    const before = answers;
    expect(await read("replay", "/moved")).toBe(first);
    expect(await read("replay-or-fail", "/moved")).toBe(first);
    expect(answers).toBe(before);
    expect(await read("replay", "/other")).not.toBe(first);
    expect(answers).toBe(before + 1);
  });

  test("`record` sends every request and replaces the response", async () => {
    const first = await read("record", "/page");
    const second = await read("record", "/page");
    expect(second).not.toBe(first);
    expect(await read("replay-or-fail", "/page")).toBe(second);
  });

  test("`replay-or-fail` rejects without a recording and sends nothing", async () => {
    const before = answers;
    await expect(read("replay-or-fail", "/page")).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringContaining("no response"),
    });
    expect(answers).toBe(before);
  });

  test("missing pages and failures of the server are replayed too", async () => {
    for (const path of ["/missing", "/cut"]) {
      const first = await read("replay", path);
      const before = answers;
      expect(await read("replay-or-fail", path)).toBe(first);
      expect(answers).toBe(before);
    }
  });

  test("a search service that failed is asked again, and a refused query is replayed", async () => {
    let status = 503;
    const service = await startHttp((_request, response) =>
      response.writeHead(status).end(JSON.stringify({ results: [{ url: "https://a.test/", title: "found" }] })),
    );
    const url = `http://127.0.0.1:${service.port}`;
    const tools = await openTools({
      search: { provider: "searxng", url },
      cassette: { mode: "replay", folder },
    });
    await expect(tools.call("search", { query: "a" })).rejects.toMatchObject({ code: "TOOL_FAILED" });
    status = 200;
    expect(textOf(await tools.call("search", { query: "a" }))).toContain("found");
    status = 400;
    const refused = await tools.call("search", { query: "b" });
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining("refused the query")]);
    const before = service.connections();
    expect(textOf(await tools.call("search", { query: "a" }))).toContain("found");
    expect(await tools.call("search", { query: "b" })).toEqual(refused);
    expect(service.connections()).toBe(before);
    await tools.close();
    await service.close();
  });

  test("equal requests at the same time are sent once", async () => {
    const before = answers;
    await withTools("replay", async (tools) => {
      const texts = await Promise.all(
        Array.from({ length: 20 }, async () => textOf(await tools.call("fetch", { url: `${site}/page` }))),
      );
      expect(new Set(texts).size).toBe(1);
    });
    expect(answers).toBe(before + 1);
  });

  test("two toolsets that record at the same time use one response", async () => {
    const texts = await Promise.all(Array.from({ length: 4 }, async () => await read("replay", "/page")));
    expect(new Set(texts).size).toBe(1);
    expect((await readdir(folder)).length).toBe(1);
  });

  test("keys and cookies are not written, and do not decide the response", async () => {
    const search = async (mode: Mode): Promise<string> =>
      await withTools(mode, async (tools) => textOf(await tools.call("search", { query: "words" })));
    const first = await search("replay");
    await read("replay", "/page");
    const files = await Promise.all(
      (await readdir(folder)).map(async (name) => await readFile(join(folder, name), "utf8")),
    );
    expect(files.length).toBe(2);
    for (const text of files) expect(text).not.toMatch(/secret-(key|cookie)/);
    delete process.env["TAVILY_API_KEY"]; // no request needs it
    const replayed = await openTools({
      search: { provider: "tavily", url: site },
      cassette: { mode: "replay-or-fail", folder },
    });
    expect(textOf(await replayed.call("search", { query: "words" }))).toBe(first);
    await replayed.close();
  });

  test("a folder that cannot be used, and recordings of nothing, are reported before an episode begins", async () => {
    const cassette = { mode: "replay-or-fail", folder: join(folder, "absent") } as const;
    await expect(openTools({ fetch: { live: true }, cassette })).rejects.toMatchObject({ code: "DATA_INVALID" });
    await writeFile(join(folder, "file"), "");
    const below = { mode: "record", folder: join(folder, "file", "below") } as const;
    await expect(openTools({ fetch: { live: true }, cassette: below })).rejects.toMatchObject({ code: "DATA_INVALID" });
    expect(options.safeParse({ cassette }).error?.issues).toEqual([expect.objectContaining({ path: ["cassette"] })]);
  });

  test("a damaged recording is reported", async () => {
    await read("replay", "/page");
    const [name] = await readdir(folder);
    await writeFile(join(folder, name!), '{"version":1');
    await expect(read("replay", "/page")).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringContaining("damaged"),
    });
  });
});
