import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { nameResolver } from "../src/network/resolve-name.ts";
import { openTools, textOf } from "./support/open-tools.ts";
import { startNameServer } from "./support/name-server.ts";
import { startHttp, type TestServer } from "./support/servers.ts";

let server: TestServer;
let names: Awaited<ReturnType<typeof startNameServer>>;

beforeAll(async () => {
  server = await startHttp((_request, response) => response.end("private page"));
  names = await startNameServer({
    "both.test": ["127.0.0.1", "127.0.0.2", "2001:db8:0:0:0:0:0:1"],
    "private.test": ["127.0.0.1"],
    "one.test": "two.test",
    "two.test": "three.test",
    "three.test": "private.test",
    "mapped.test": ["0:0:0:0:0:ffff:7f00:1"],
    "metadata.test": "link-local.test",
    "link-local.test": ["169.254.169.254"],
    "dangling.test": "nowhere.test",
  });
});
afterAll(async () => {
  await names.close();
  await server.close();
});

describe("names", () => {
  test("a name has its addresses of both families", async () => {
    const addresses = await new Promise((resolve, reject) =>
      nameResolver([names.address])("both.test", { all: true }, (error, found) =>
        error === null ? resolve(found) : reject(error),
      ),
    );
    expect(addresses).toEqual([
      { address: "127.0.0.1", family: 4 },
      { address: "127.0.0.2", family: 4 },
      { address: "2001:db8::1", family: 6 },
    ]);
  });

  test("a chain of names to a private address is refused, and to an allowed one is followed", async () => {
    const resolve = nameResolver([names.address]);
    const refusing = await openTools({ fetch: { live: true, ports: [server.port] } }, { resolve });
    for (const host of ["private.test", "one.test", "mapped.test", "metadata.test", "both.test"]) {
      const result = await refusing.call("fetch", { url: `http://${host}:${server.port}/` });
      expect([host, result.isError, textOf(result)]).toEqual([host, true, expect.stringContaining("may be reached")]);
    }
    for (const host of ["dangling.test", "unknown.test"]) {
      const result = await refusing.call("fetch", { url: `http://${host}:${server.port}/` });
      expect([host, textOf(result)]).toEqual([host, expect.stringContaining("cannot be resolved")]);
    }
    expect(server.connections()).toBe(0);
    const allowing = await openTools({ fetch: { live: true }, allow: ["127.0.0.1"] }, { resolve });
    expect(textOf(await allowing.call("fetch", { url: `http://one.test:${server.port}/` }))).toContain("private page");
    await allowing.close();
    await refusing.close();
  });
});
