import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { textMessage } from "@mrlm/kit";
import type { Message } from "@mrlm/spec";
import { Mrlm, run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const { signal } = new AbortController();
const folder = temporaryDirectory();

test("mrlm serve: a client plays an episode, which metrics and logs show without its content; Ctrl-C ends the server", async () => {
  const token = "CANARY-0123456789abcdef0123456789abcdef";
  const tokenFile = join(folder, "canary-token");
  writeFileSync(tokenFile, `trainer ${token}\n`, { mode: 0o600 });
  const observed = ["--metrics-port", "0", "--log", "json", "--token-file", tokenFile];
  const server = new Mrlm([
    "serve",
    "--environments",
    "math",
    "--port",
    "0",
    "--json",
    "--demonstrations",
    ...observed,
  ]);
  const { address, environments, metrics } = await server.event(({ event }) => event === "listening");
  expect(environments).toEqual(["math@2"]);
  await expect(connectEnvironments(address as string, { token: `${token}-false` })).rejects.toMatchObject({
    code: "UNAUTHENTICATED",
  });
  const host = await connectEnvironments(address as string, { token });
  await expect(host.describe({ id: "math", options: { style: "CANARY" } })).rejects.toMatchObject({
    code: "OPTIONS_INVALID",
  });
  await expect(host.describe({ id: "mth" })).rejects.toMatchObject({
    code: "ENVIRONMENT_NOT_FOUND",
    message: expect.stringContaining('Did you mean "math"?'),
    hint: "Available: math@2.",
  });
  const ref = { id: "math", options: { families: ["ordering"], style: "terse" } };
  const [demonstration] = await host.demonstrate(ref, ["train/5"]);
  const session = await host.open(ref);
  const observation = await session.reset({ task: "train/5", signal });
  expect(observation.messages.at(-1)?.role).toBe("user");
  const message = demonstration?.messages.at(-1) as Message;
  const { rewards, terminated } = await session.step(
    { agent: observation.agent, message, finishReason: "stop" },
    { signal },
  );
  expect([rewards[observation.agent], terminated]).toMatchObject([
    { scored: true, value: 1, components: { correct: 1, format: 1 } },
    { [observation.agent]: true },
  ]);
  const late = { agent: observation.agent, message: textMessage("assistant", "CANARY"), finishReason: "stop" } as const;
  await session.reset({ task: "train/5", signal });
  await expect(session.step({ ...late, agent: "CANARY" }, { signal })).rejects.toMatchObject({
    code: "STEP_OUT_OF_ORDER",
  });
  const scraped = await (await fetch(`http://${metrics as string}/metrics`)).text();
  expect(scraped).toMatch(/^mrlm_server_call_duration_count{environment="math@2",phase="step"} 2$/m);
  expect(scraped).toMatch(/^mrlm_server_errors_total{environment="math@2",phase="step",code="STEP_OUT_OF_ORDER"} 1$/m);
  expect(scraped).toMatch(/^mrlm_server_sessions{environment="math@2"} 1$/m);
  expect(scraped).toMatch(/^mrlm_server_client_sessions{client="trainer"} 1$/m);
  expect(scraped).toMatch(/^mrlm_server_unauthenticated_total [1-9]/m);
  expect(scraped).toMatch(/^process_memory_rss [1-9]/m);
  await session.close();
  await host.close();
  server.child.kill("SIGINT");
  const { stdout, stderr, ...end } = await server.finished;
  expect(end).toMatchObject({ code: 0, signal: null });
  const lines = stderr
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.at(-1)).toMatchObject({ level: "info", msg: expect.stringMatching(/^finishing the calls under way/) });
  expect(lines[0]).toMatchObject({
    level: "debug",
    msg: "A call failed.",
    environment: "math@2",
    session: expect.stringMatching(/^[0-9a-f]{16}$/),
    client: "trainer",
    fields: { phase: "step", code: "STEP_OUT_OF_ORDER" },
  });
  expect(stdout + stderr + scraped).not.toContain("CANARY");
});

test("U17: what an environment prints and logs reaches the training process, with one level, and disturbs nothing", async () => {
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({
      name: "talkative",
      version: "1.0.0",
      type: "module",
      mrlm: { apiVersion: 1, entry: "./index.js", provides: ["environment:talkative@1"] },
    }),
  );
  writeFileSync(
    join(folder, "index.js"),
    `console.log("printed when imported");
    const tasks = ({ logger }) => {
      console.log("printed by tasks");
      logger.warn("logged by tasks", { rows: 1 });
      return { splits: { train: 1, eval: 1 }, get: async (split, index) => ({ id: split + "/" + index, public: {}, private: {} }) };
    };
    const environment = { id: "talkative@1", description: "", determinism: "full", deadlines: {}, tasks, create: () => ({}) };
    export default { apiVersion: 1, name: "talkative", environments: [{ ...environment, options: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } } }] };`,
  );
  const config = writeConfig(folder, {
    ...TINY,
    plugins: { [folder]: {} },
    environments: [{ id: "talkative", options: { hard: true } }],
    stages: TINY.stages.slice(1),
    engine: { address: "127.0.0.1:9" },
  });
  const { stderr } = await run(["train", "--config", config, "--output", join(folder, "runs")]);
  expect(stderr).toContain("note: environment server: printed by tasks");
  expect(stderr).toContain("\nenvironment server: warn: logged by tasks (rows: 1)\n");
  expect(stderr).toContain("error ENGINE_UNAVAILABLE");
});

test("a port in use is named, with what to do", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  const { code, stderr } = await run(["serve", "--port", String(port)]);
  other.close();
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error PORT_IN_USE: Port ${port} is in use`)]);
  expect(stderr).toContain("--port");
  // U17: a server has nothing to do with training.
  expect(stderr).not.toContain("distributed");
});

describe("where no jail holds what a model wrote", () => {
  // Imitates a container that forbids namespaces: bubblewrap is installed and fails.
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n");
  chmodSync(join(bin, "bwrap"), 0o755);
  const env = { PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
  const serve = (environment: string, host: string): string[] => [
    "serve",
    "--environments",
    environment,
    "--host",
    host,
    ...(host === "0.0.0.0" ? ["--insecure"] : []),
    "--port",
    "0",
    "--json",
  ];

  // tools@2 runs code only under options with python@1.
  test.each(["code", "tools"])("%s is not served to others", async (environment) => {
    const { code, stderr, events } = await run(serve(environment, "0.0.0.0"), env);
    expect([code, stderr]).toEqual([2, expect.stringContaining("SANDBOX_UNSAFE")]);
    expect(stderr).toContain("--unsafe-sandbox");
    expect(events.some(({ event }) => event === "listening")).toBe(false);
  });

  test.each([
    ["code, with --unsafe-sandbox", [...serve("code", "0.0.0.0"), "--unsafe-sandbox"]],
    ["code, on loopback", serve("code", "127.0.0.1")],
    ["math, which runs nothing", serve("math", "0.0.0.0")],
  ])("%s is", async (_, args) => {
    const server = new Mrlm(args, env);
    expect(await server.event(({ event }) => event === "listening")).toMatchObject({
      address: expect.stringMatching(/:\d+$/),
    });
    server.child.kill("SIGINT");
    expect(await server.finished).toMatchObject({ code: 0, signal: null });
  });
});
