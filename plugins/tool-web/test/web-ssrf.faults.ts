/** Requests of policies to addresses that are not public. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openTools, textOf } from "./support/open-tools.ts";
import {
  type AttemptOptions,
  ownAddresses,
  type PrivateNetwork,
  PUBLIC,
  SECRET,
  startPrivateNetwork,
} from "./support/private-network.ts";
import { locationAttempts, urlAttempts } from "./support/ssrf-attempts.ts";

let network: PrivateNetwork;
const fetchPage = async (url: string) => await network.tools.call("fetch", { url });

/** Makes one attempt, which must not succeed. */
async function refused(url: string, options?: AttemptOptions): Promise<void> {
  const { isThrough, text } = await network.attempt(url, options);
  expect(isThrough ? { url, text } : undefined).toBeUndefined();
}

beforeAll(async () => {
  network = await startPrivateNetwork();
});
afterAll(async () => await network?.close());

/** Only Linux has 127.0.0.2 without configuration. */
const onLinux = process.platform === "linux" ? describe : describe.skip;

onLinux("requests to addresses that are not public", () => {
  test("the control: the servers answer where their address is allow-listed", async () => {
    const { port } = network;
    const open = await openTools({ fetch: { live: true }, allow: ["127.0.0.0/8"] }, { resolve: network.resolve });
    for (const host of ["127.0.0.1", "2130706433", "[::ffff:7f00:1]", "loopback.test"]) {
      const result = await open.call("fetch", { url: `http://${host}:${port}/` });
      expect(textOf(result)).toContain(SECRET);
    }
    await open.close();
    expect(textOf(await fetchPage(`http://public.test:${port}/page`))).toContain("public page");
    expect(textOf(await fetchPage(`http://${PUBLIC}:${port}/page`))).toContain("public page");
  });

  test.each(urlAttempts)("%j is refused", async (template) => {
    await refused(template.replaceAll("$", String(network.port)));
  });

  test("the addresses of this machine are refused", async () => {
    const own = ["127.0.0.1", "[::1]", ...ownAddresses("IPv4"), ...ownAddresses("IPv6").map((one) => `[${one}]`)];
    for (const host of own) await refused(`http://${host}:${network.port}/`);
  });

  test.each(locationAttempts)("a redirect to %j is refused", async (template) => {
    const to = template.replaceAll("$", String(network.port));
    // By the WHATWG rules this one is a path of the same server.
    const options = template === "http:127.0.0.1:$/" ? { expected: /status 404/ } : {};
    for (const status of [301, 303, 308])
      await refused(
        `http://public.test:${network.port}/?${new URLSearchParams({ to, status: String(status) })}`,
        options,
      );
    await refused(`http://public.test:${network.port}/?${new URLSearchParams({ to, hops: "3" })}`, options);
  });

  test("a name that resolves to another address after the first request is refused", async () => {
    const { port } = network;
    network.names["rebind.test"] = [[PUBLIC], ["127.0.0.1"]];
    await refused(`http://rebind.test:${port}/?${new URLSearchParams({ to: `http://rebind.test:${port}/` })}`);
    await refused(`http://rebind.test:${port}/`);
    // The second answer would be used by a check that resolves the name before it connects.
    network.names["flip.test"] = [[PUBLIC], ["127.0.0.1"], [PUBLIC]];
    expect(textOf(await fetchPage(`http://flip.test:${port}/page`))).toContain("public page");
    await refused(`http://flip.test:${port}/page`);
  });

  test("of several addresses only public ones are connected to", async () => {
    const { port } = network;
    for (const [index, answers] of [
      ["127.0.0.1", PUBLIC],
      [PUBLIC, "127.0.0.1"],
      ["::1", "127.0.0.1", PUBLIC],
      [PUBLIC, "::1", "169.254.169.254"],
    ].entries()) {
      const before = network.reached();
      network.names[`mixed${index}.test`] = [answers];
      const result = await fetchPage(`http://mixed${index}.test:${port}/page`);
      network.count(network.reached() !== before);
      expect([textOf(result).includes("public page"), network.reached()]).toEqual([true, before]);
    }
  });

  test("proxies from the environment are not used", async () => {
    const { port } = network;
    const proxy = `http://127.0.0.1:${port}`;
    const variables = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    const script = `
      const { options } = await import(${JSON.stringify(new URL("../src/options.ts", import.meta.url).href)});
      const { createWebToolset } = await import(${JSON.stringify(new URL("../src/web-toolset.ts", import.meta.url).href)});
      const toolset = await createWebToolset(options.parse({ fetch: { live: true }, allow: ["${PUBLIC}"] }));
      const signal = AbortSignal.timeout(20_000);
      const { tools } = await toolset.open({ files: {}, signal });
      for (const url of ["http://${PUBLIC}:${port}/page", "http://127.0.0.1:${port}/"])
        console.log(JSON.stringify(await tools[1].call({ url }, { signal })));
      process.exit();`;
    const before = network.reached();
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=mrlm-source", "--no-warnings", "--input-type=module", "-e", script],
      {
        env: {
          PATH: process.env["PATH"],
          NODE_USE_ENV_PROXY: "1",
          NO_PROXY: "",
          ...Object.fromEntries(variables.map((name) => [name, proxy])),
        },
      },
    );
    expect(stdout).toMatch(/public page.*\n.*may be reached/);
    network.count(network.reached() !== before);
    expect(network.reached()).toBe(before);
  });

  test("at least 60 attempts were made, and none was successful", () => {
    expect(network.attempts.all).toBeGreaterThanOrEqual(200);
    expect(network.attempts.through).toBe(0);
  });
});
