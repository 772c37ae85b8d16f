import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@mrlm/kit/service";
import { serveEngine, serveSampler } from "@mrlm/server";
import { BigramEngine, BigramExternalSampler, createAuthority } from "@mrlm/testing";
import { engineNotice, reachable } from "../src/services/reachable-engines.ts";
import { declareSample, type SampleOptions } from "../src/declarations/sample.ts";
import { samplerAddress } from "../src/services/sampler-address.ts";
import { type GivenOptions, parseOptions } from "./support/parse-options.ts";

const authority = createAuthority();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-sampler-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function identity(names: readonly string[]) {
  const { cert, key } = authority.issue({ names });
  return { tlsCert: file("cert.pem", cert), tlsKey: file("key.pem", key) };
}

/** Offers a sampler, and returns its place and the end of the offer. */
async function offer(options: Partial<SampleOptions>) {
  const address = samplerAddress(options, silentLogger);
  const engine = await serveEngine({ engine: new BigramEngine(), address: "127.0.0.1:0" });
  const to = `127.0.0.1:${engine.port}`;
  try {
    return { to, ...(await address.offer(to)) };
  } finally {
    await address.close();
    await engine.close();
  }
}

describe("the address of mrlm sample", () => {
  test.each<[GivenOptions<SampleOptions>, string, string]>([
    [{ host: "10.0.0.2" }, "ADDRESS_INSECURE", "lacks TLS"],
    [{ host: "0.0.0.0", insecure: true }, "USAGE", "every address"],
    [{ host: "[::]", insecure: true }, "USAGE", "every address"],
    [{ port: "70000" }, "USAGE", "--port 70000"],
    [{ tlsCert: "cert.pem" }, "USAGE", "--tls-key"],
    [{ tlsCa: "authority.pem" }, "USAGE", "--tls-ca"],
    [{ host: "10.0.0.2", tlsCert: "/no/cert.pem", tlsKey: "/no/key.pem" }, "CONFIG_INVALID", "/no/cert.pem"],
  ])("%j is refused before a sampler starts: %s", (options, code, message) => {
    const given = { run: "run", ...options };
    expect(() => samplerAddress(parseOptions(declareSample, given), silentLogger)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  test("without options the place is that of the sampler; with them it has the address and the authority", async () => {
    const near = await offer({});
    expect(near).toEqual({ to: near.to, address: near.to });
    expect((await offer({ host: "127.0.0.2" })).address).toMatch(/^127\.0\.0\.2:\d+$/);
    const tlsCa = file("authority.pem", authority.cert);
    const far = await offer({ host: "127.0.0.2", ...identity(["127.0.0.2"]), tlsCa });
    expect(far).toMatchObject({ address: expect.stringMatching(/^127\.0\.0\.2:\d+$/), tls: { ca: authority.cert } });
  });

  test.each([
    ["of another host", ["elsewhere.example"], true, "elsewhere.example"],
    ["of an unknown authority", ["127.0.0.2"], false, "No authority"],
  ])("a certificate %s is refused before the sampler has a place", async (_, names, isKnown, message) => {
    const tlsCa = file("authority.pem", isKnown ? authority.cert : createAuthority().cert);
    await expect(offer({ host: "127.0.0.2", ...identity(names), tlsCa })).rejects.toMatchObject({
      code: "TLS_FAILED",
      message: expect.stringContaining(message),
      hint: expect.stringContaining("--tls-ca"),
    });
  });
});

test("engines that the machine of a sampler does not reach are named with what to do", async () => {
  const engine = await serveEngine({ engine: new BigramEngine(), address: "127.0.0.1:0" });
  const training = { since: 1, address: `127.0.0.1:${engine.port}` };
  const refused = { code: "CONFIG_INVALID", hint: expect.stringContaining("--engine HOST:PORT") };
  expect(() => reachable(training, "10.0.0.2", new Map())).toThrow(expect.objectContaining(refused));
  expect(reachable(training, "127.0.0.2", new Map())).toEqual(training);
  expect(reachable(training, "10.0.0.2", new Map([["main", "10.0.0.1:7"]])).address).toBe("10.0.0.1:7");

  const lines: string[] = [];
  const look = engineNotice(
    (places) => places,
    (line) => lines.push(line),
  );
  await look(undefined);
  await look(training);
  expect(lines).toEqual([]);
  await engine.close();
  // Another process listens at the address that the sampler was given.
  const sampler = new BigramExternalSampler(new BigramEngine());
  const other = await serveSampler({ sampler, address: training.address });
  await look({ ...training, since: 2 });
  await look({ ...training, since: 2 });
  expect(lines).toEqual([
    expect.stringMatching(/^no weights can be read from the engine: \[PROTOCOL_VERSION\] .* --engine HOST:PORT/),
  ]);
  await other.close();
});
