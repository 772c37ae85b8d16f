import { readFile } from "node:fs/promises";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { nameResolver } from "../src/network/resolve-name.ts";
import { type OpenTools, openTools, textOf } from "./support/open-tools.ts";
import { startNameServer } from "./support/name-server.ts";
import { startHttp, startRaw, type TestServer } from "./support/servers.ts";

const MIB = 1024 * 1024;
const servers: TestServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map(async (server) => await server.close()));
});

/** Open tools by the options that differ from those of most tests. */
const opened = new Map<string, OpenTools>();
afterAll(async () => {
  for (const tools of opened.values()) await tools.close();
});

/** Fetches a page of a server with limits of 1 MiB and 20 s. */
async function fetchFrom(
  server: TestServer,
  path = "/",
  fetch: object = {},
): Promise<{ text: string; isError: boolean }> {
  servers.push(server);
  const key = JSON.stringify(fetch);
  const tools =
    opened.get(key) ??
    (await openTools({
      fetch: { live: true, max_bytes: MIB, timeout_ms: 20_000, part_characters: 200_000, ...fetch },
      allow: ["127.0.0.1"],
    }));
  opened.set(key, tools);
  const result = await tools.call("fetch", { url: `http://127.0.0.1:${server.port}${path}` });
  return { text: textOf(result), isError: result.isError };
}

const answerWith = async (headers: Record<string, string>, body: Uint8Array | string): Promise<TestServer> =>
  await startHttp((_request, response) => {
    response.on("error", () => undefined).writeHead(200, { "content-type": "text/plain", ...headers });
    response.end(body);
  });

describe("sizes", () => {
  test.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
  ])("a %s page is decoded", async (coding, compress) => {
    expect(await fetchFrom(await answerWith({ "content-encoding": coding }, compress("some text")))).toMatchObject({
      text: expect.stringContaining("some text"),
      isError: false,
    });
  });

  test.each([
    ["gzip", gzipSync],
    ["br", (data: Buffer) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
  ])("a %s bomb is cut at the size limit", async (coding, compress) => {
    const bomb = compress(Buffer.alloc(100 * MIB, "a"));
    expect(bomb.length).toBeLessThan(MIB);
    const before = process.memoryUsage().arrayBuffers;
    const { text, isError } = await fetchFrom(await answerWith({ "content-encoding": coding }, bomb));
    expect(isError).toBe(false);
    expect(text).toMatch(/Part 1 of 5/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * MIB);
  });

  test("data that decodes to nothing is cut at the size limit", async () => {
    // Empty blocks of deflate: 5 bytes each, without output.
    const blocks = Buffer.alloc(5 * MIB, Buffer.from([0, 0, 0, 0xff, 0xff]));
    const { text } = await fetchFrom(
      await answerWith({ "content-encoding": "deflate" }, Buffer.concat([Buffer.from([0x78, 0x9c]), blocks])),
    );
    expect(text).toContain("cut at a size limit");
  });

  test("codings that are unknown, nested or damaged are reported", async () => {
    expect(
      (await fetchFrom(await answerWith({ "content-encoding": "gzip, gzip" }, gzipSync(gzipSync("x"))))).text,
    ).toContain("not supported");
    expect((await fetchFrom(await answerWith({ "content-encoding": "zip" }, "x"))).text).toContain("not supported");
    expect((await fetchFrom(await answerWith({ "content-encoding": "gzip" }, "this is not gzip"))).text).toContain(
      "cannot be decoded",
    );
    expect(
      (
        await fetchFrom(
          await answerWith({ "content-encoding": "gzip" }, gzipSync("cut in the middle ".repeat(9)).subarray(0, -8)),
        )
      ).text,
    ).toContain("cut in the middle");
  });

  test("an endless body is cut at the size limit", async () => {
    const server = await startHttp((_request, response) => {
      response.on("error", () => undefined).writeHead(200, { "content-type": "text/plain" });
      const send = (): void => {
        while (!response.destroyed && response.write("word ".repeat(2000)));
        if (!response.destroyed) response.once("drain", send);
      };
      send();
    });
    const { text } = await fetchFrom(server);
    expect(text).toMatch(/Part 1 of 5/);
  });
});

/** Sends data every few milliseconds until the client disconnects. */
const repeatedly =
  (first: string, next: string, everyMs: number) => (send: (data: string) => boolean, signal: AbortSignal) => {
    send(first);
    const timer = setInterval(() => send(next), everyMs);
    signal.addEventListener("abort", () => clearInterval(timer));
  };

describe("time", () => {
  test.each([
    [
      "a body at 1 byte per second",
      repeatedly("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100000\r\n\r\n", "a", 1000),
      /in time/,
    ],
    ["headers at 1 byte per 100 ms", repeatedly("HTTP/1.1 200 OK\r\nx: ", "a", 100), /in time/],
    [
      "endless interim responses",
      repeatedly("HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", 10),
      /in time/,
    ],
    ["no answer", () => undefined, /in time/],
    [
      "endless headers",
      repeatedly("HTTP/1.1 200 OK\r\n", `x-${"a".repeat(10)}: ${"b".repeat(8000)}\r\n`, 1),
      /bytes of headers|protocol/,
    ],
    ["one endless header", repeatedly("HTTP/1.1 200 OK\r\nx: ", "b".repeat(8000), 1), /bytes of headers|protocol/],
    [
      "endless extensions of a chunk",
      repeatedly("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;", "a=b;".repeat(1000), 5),
      /in time|protocol/,
    ],
    [
      "endless trailers",
      repeatedly("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", `t: ${"b".repeat(8000)}\r\n`, 1),
      /in time|protocol|headers/,
    ],
    ["another protocol", repeatedly("SSH-2.0-OpenSSH_9.9\r\n", "", 1000), /protocol/],
  ])("%s ends with an error within the time limit", async (_name, answer, expected) => {
    const { text, isError } = await fetchFrom(await startRaw(answer), "/", { timeout_ms: 300 });
    expect([isError, text]).toEqual([true, expect.stringMatching(expected)]);
  });

  test("a resolver that never answers ends with an error within the time limit", async () => {
    const tools = await openTools({ fetch: { live: true, timeout_ms: 300 } }, { resolve: () => undefined });
    const result = await tools.call("fetch", { url: "http://slow.test/" });
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining("in time")]);
    await tools.close();
  });

  test("names that are never answered stop no work with files", async () => {
    const names = await startNameServer({ "slow.test": null });
    const tools = await openTools(
      { fetch: { live: true, timeout_ms: 1000 } },
      { resolve: nameResolver([names.address]) },
    );
    const calls = Array.from({ length: 20 }, () => tools.call("fetch", { url: "http://slow.test/" }));
    const order: string[] = [];
    const reading = readFile(new URL(import.meta.url)).then(() => order.push("file"));
    const results = await Promise.all(calls.map((call) => call.finally(() => order.push("page"))));
    await reading;
    expect(order[0]).toBe("file");
    for (const result of results) expect(textOf(result)).toContain("in time");
    await tools.close();
    await names.close();
  });

  test("redirects without end are reported", async () => {
    const server = await startHttp((request, response) =>
      response.writeHead(302, { location: `/${request.url!.length}${request.url}` }).end(),
    );
    expect((await fetchFrom(server)).text).toContain("redirects more than 5 times");
    expect(server.connections()).toBe(6);
  });

  test("a call that is aborted rejects with the reason", async () => {
    const server = await startRaw(() => undefined);
    servers.push(server);
    const tools = await openTools({ fetch: { live: true }, allow: ["127.0.0.1"] });
    const abort = new AbortController();
    const call = tools.call("fetch", { url: `http://127.0.0.1:${server.port}/` }, abort.signal);
    abort.abort(new Error("stopped by the host"));
    await expect(call).rejects.toThrow("stopped by the host");
    await tools.close();
  });
});

describe("broken responses", () => {
  const text = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
  test.each([
    ["an empty answer", ""],
    ["a bare body", "hello"],
    [
      "a switch of the protocol",
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    ],
    ["a tunnel", "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: basic\r\n\r\n"],
    ["a chunk of 2^64 bytes", `${text}transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nx`],
    ["a chunk with a wrong size", `${text}transfer-encoding: chunked\r\n\r\nzz\r\nx`],
    ["a negative length", `${text}content-length: -5\r\n\r\nhello`],
    ["two lengths", `${text}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`],
    ["a length and chunks", `${text}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`],
    ["a body that is too short", `${text}content-length: 500\r\n\r\nhello`],
    ["a header with NUL", `${text}x: a\0b\r\n\r\nhello`],
    ["an unknown status", "HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n"],
    ["a status of one digit", "HTTP/1.1 2 OK\r\n\r\n"],
    ["a redirect without a target", "HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n"],
    ["a redirect with two targets", "HTTP/1.1 302 Found\r\nlocation: /a\r\nlocation: http://127.0.0.1:1/\r\n\r\n"],
    ["a redirect to a broken URL", "HTTP/1.1 302 Found\r\nlocation: http://[::1\r\n\r\n"],
    ["a not modified page", "HTTP/1.1 304 Not Modified\r\n\r\n"],
    ["bytes that are not HTTP", Buffer.from(Array.from({ length: 256 }, (_value, index) => index))],
  ])("%s is an error that the policy reads", async (_name, answer) => {
    const server = await startRaw((send, _signal, end) => {
      if (answer.length > 0) send(answer);
      end();
    });
    expect(await fetchFrom(server)).toMatchObject({ isError: true, text: expect.stringContaining("cannot be read") });
  });
});
