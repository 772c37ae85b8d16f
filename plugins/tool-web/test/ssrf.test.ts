import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { textOf } from "./support/open-tools.ts";
import { type PrivateNetwork, PUBLIC, startPrivateNetwork } from "./support/private-network.ts";
import { urlAttempts } from "./support/ssrf-attempts.ts";

/** Only Linux has 127.0.0.2 without configuration. */
const onLinux = process.platform === "linux" ? describe : describe.skip;

/** One attempt of each kind. `npm run test:faults -- web` makes all of them. */
onLinux("requests to addresses that are not public", () => {
  let network: PrivateNetwork;
  beforeAll(async () => {
    network = await startPrivateNetwork();
  });
  afterAll(async () => await network?.close());

  test("the control: a public server is reached", async () => {
    const url = `http://public.test:${network.port}/page`;
    expect(textOf(await network.tools.call("fetch", { url }))).toContain("public page");
  });

  test.each(urlAttempts.filter((_url, index) => index % 10 === 0))("%j is refused", async (template) => {
    expect(await network.attempt(template.replaceAll("$", String(network.port)))).toMatchObject({ isThrough: false });
  });

  test("a redirect and a name that resolves to another address the second time are refused", async () => {
    const { port } = network;
    const to = (target: string) => new URLSearchParams({ to: target });
    network.names["rebind.test"] = [[PUBLIC], ["127.0.0.1"]];
    for (const url of [
      `http://public.test:${port}/?${to(`http://127.0.0.1:${port}/`)}`,
      `http://rebind.test:${port}/?${to(`http://rebind.test:${port}/`)}`,
    ])
      expect(await network.attempt(url)).toMatchObject({ isThrough: false });
  });
});
