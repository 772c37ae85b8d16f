import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { expect, test } from "@jest/globals";
import { connectEngine, connectEnvironments } from "@mrlm/client";
import { createAuthority } from "@mrlm/testing";
import { describeWithEngine, installed } from "./support/engine.ts";
import { Mrlm, ROOT, run } from "./support/mrlm.ts";
import { tinyConfig, tokenizerFiles } from "./support/stage.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const directory = temporaryDirectory();
const [tokenFile, emptyFile] = [join(directory, "token"), join(directory, "empty")];
writeFileSync(tokenFile, "0123456789abcdef\n");
writeFileSync(emptyFile, "\n");
const token = "0123456789abcdef";

test("mrlm serve --token-file: the token opens it, from TypeScript and from a configuration; nothing else does", async () => {
  const server = new Mrlm([
    "serve",
    "--environments",
    "math",
    "--port",
    "0",
    "--json",
    "--demonstrations",
    "--token-file",
    tokenFile,
  ]);
  const { address } = (await server.event(({ event }) => event === "listening")) as unknown as { address: string };
  await (await connectEnvironments(address, { token })).close();
  await expect(connectEnvironments(address)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  const train = (section: object) =>
    run([
      "train",
      "--config",
      writeConfig(directory, { ...TINY, server: { address, ...section }, engine: { address: "127.0.0.1:9" } }),
    ]);
  // With the token it reaches the address of the engine, where no process listens.
  expect(await train({ token_file: "token" })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("error ENGINE_UNAVAILABLE"),
  });
  expect(await train({})).toMatchObject({ code: 2, stderr: expect.stringContaining("error UNAUTHENTICATED") });
  expect(await train({ token_file: "nowhere" })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/error CONFIG_INVALID: The token file \S+nowhere cannot be read/),
  });
  expect(await run(["serve", "--token-file", emptyFile])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is empty"),
  });
  server.child.kill("SIGINT");
  await server.finished;
});

test("mrlm serve beyond loopback: both ports have TLS and the tokens, and the files are replaced while it runs", async () => {
  const authority = createAuthority();
  const files = { tokens: join(directory, "tokens"), cert: join(directory, "cert"), key: join(directory, "key") };
  const replace = (tokens: string): string => {
    const { cert, key } = authority.issue();
    const contents = { tokens, cert, key };
    for (const [name, content] of Object.entries(contents)) writeFileSync(files[name as keyof typeof files], content);
    return new X509Certificate(cert).fingerprint256;
  };
  replace(`alice ${token}\n`);
  writeFileSync(join(directory, "authority"), authority.cert);
  const server = new Mrlm([
    ...["serve", "--environments", "math", "--host", "0.0.0.0", "--port", "0", "--http-port", "0", "--json"],
    ...["--demonstrations", "--metrics-port", "0"],
    ...["--token-file", files.tokens, "--tls-cert", files.cert, "--tls-key", files.key],
  ]);
  const { address, http, metrics } = await server.event(({ event }) => event === "listening");
  const local = (listening: unknown): string => String(listening).replace("0.0.0.0", "127.0.0.1");
  const [grpc, mcp] = [local(address), new URL(`https://${local(http)}/mcp`)];
  const train = (section: object) =>
    run([
      "train",
      "--config",
      writeConfig(directory, { ...TINY, server: { address: grpc, ...section }, engine: { address: "127.0.0.1:9" } }),
    ]);
  // With TLS and the token it reaches the address of the engine, where no process listens.
  expect(await train({ token_file: "token", tls: { ca: "authority" } })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("error ENGINE_UNAVAILABLE"),
  });
  expect(await train({ token_file: "token" })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/error TLS_FAILED: .*uses TLS/),
  });
  const get = async (authorization: string): Promise<readonly [number | undefined, string]> => {
    const sent = request(mcp, { ca: authority.cert, agent: false, headers: { authorization } }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    return [response.statusCode, (response.socket as TLSSocket).getPeerCertificate().fingerprint256];
  };
  expect((await get("Bearer another"))[0]).toBe(401);
  expect((await get(`Bearer ${token}`))[0]).not.toBe(401);
  const tls = { ca: authority.cert };
  await expect(connectEnvironments(grpc, { token: "none", tls })).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  const client = await connectEnvironments(grpc, { token, tls });
  const session = await client.open({ id: "math" });
  await session.reset({ seed: 1, signal: new AbortController().signal });
  const scraped = await (await fetch(`http://${String(metrics)}/metrics`)).text();
  expect(scraped).toMatch(/^mrlm_server_client_sessions{client="alice"} 1$/m);
  expect(scraped).toMatch(/^mrlm_server_unauthenticated_total [1-9]/m);
  const fingerprint = replace("alice another\nbob a-third\n");
  while ((await get(""))[1] !== fingerprint) await sleep(50);
  while ((await get("Bearer another"))[0] === 401) await sleep(50);
  // The replaced token is valid for 300 seconds.
  expect((await get(`Bearer ${token}`))[0]).not.toBe(401);
  expect(await client.list()).toHaveLength(1);
  await client.close();
  server.child.kill("SIGINT");
  expect(await server.finished).toMatchObject({ code: 0 });
});

describeWithEngine("an engine with a token (skipped where `npm run setup` has not run)", () => {
  test("answers calls and streams that carry it, and refuses others", async () => {
    const python = join(ROOT, "algorithms/engine-torch/python");
    const child = spawn(
      installed?.executable as string,
      ["-m", "mrlm_engine", "--device", "cpu", "--threads", "1", "--token-file", tokenFile],
      { env: { ...process.env, PYTHONPATH: python }, stdio: ["pipe", "pipe", "inherit"] },
    );
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const { listening: address } = JSON.parse(line) as { listening: string };
    await expect(connectEngine(address)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    await expect(connectEngine(address, { token: "another" })).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    const engine = await connectEngine(address, { token });
    const { info } = await engine.createModel({
      model: "policy",
      role: "policy",
      source: { kind: "random", config: tinyConfig, seed: 0, tokenizerFiles },
      trainable: true,
    });
    const sampler = await engine.sampler(info.model);
    const sampling = sampler.sample({
      key: 1n,
      prompt: Int32Array.of(1, 2),
      params: { temperature: 1, maxTokens: 3, minTokens: 3, stopTokenIds: [] },
    });
    sampler.barrier();
    expect((await sampling).tokens).toHaveLength(3);
    await sampler.close();
    await engine.close();
    child.stdin.end();
    await once(child, "exit");
  });
});
