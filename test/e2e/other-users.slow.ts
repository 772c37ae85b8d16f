import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { parseConfig, RunDirectory } from "@mrlm/runtime";
import { openLocalStore } from "@mrlm/store";
import { ENGINE_SERVICE, ENVIRONMENT_SERVICE, STORE_SERVICE } from "@mrlm/wire";
import { installed } from "./support/engine.ts";
import { type IntruderCall, intrude, noOtherUser } from "./support/intrude.ts";
import { Mrlm } from "./support/mrlm.ts";
import { processTree } from "./support/process-tree.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const UNAUTHENTICATED = "16";
const [directory, other] = [temporaryDirectory(), temporaryDirectory()];
const secretFile = join(directory, "problems.jsonl");
writeFileSync(secretFile, `${JSON.stringify({ question: "the owner's own question", answer: "one #### 1" })}\n`, {
  mode: 0o600,
});

const resetOf = (path: string): Uint8Array => {
  const optionsJson = JSON.stringify({ data: { path, format: "gsm8k", eval_share: 0 } });
  return ENVIRONMENT_SERVICE.reset.requestSerialize({
    sessionId: randomBytes(16),
    epoch: 1,
    environment: { id: "math@2", optionsJson },
    seed: undefined,
    task: "train/0",
    leaseMs: 0,
    deadlineMs: 0,
    episode: new Uint8Array(),
  });
};
const reset = (address: string, path = secretFile): IntruderCall => ({
  address,
  path: ENVIRONMENT_SERVICE.reset.path,
  body: resetOf(path),
});
const describeEngine = (address: string): IntruderCall => ({
  address,
  path: ENGINE_SERVICE.describe.path,
  body: new Uint8Array(),
});
const exportTo = (address: string, to: string): IntruderCall => ({
  address,
  path: ENGINE_SERVICE.export.path,
  body: ENGINE_SERVICE.export.requestSerialize({ call: 0n, modelId: "policy", directory: to, mergeAdapter: true }),
});

/** Returns the loopback addresses on which these processes listen. */
function listening(pids: readonly number[]): string[] {
  const sockets = new Set(
    pids.flatMap((pid) => readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))),
  );
  // The list of IPv6 sockets may contain an IPv4 socket.
  const lines = ["tcp", "tcp6"].flatMap((name) => readFileSync(`/proc/net/${name}`, "utf8").split("\n").slice(1));
  return lines.flatMap((line) => {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === "0A" && sockets.has(`socket:[${inode}]`)
      ? [`127.0.0.1:${Number.parseInt(local.split(":").at(-1) as string, 16)}`]
      : [];
  });
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const testWithEngine = installed === undefined ? test.skip : test;
// Runs also when a test fails.
const started: Mrlm[] = [];
afterAll(async () => {
  for (const each of started) each.child.kill("SIGKILL");
  await Promise.all(started.map(({ finished }) => finished));
});
const begin = (args: readonly string[]): Mrlm => {
  const mrlm = new Mrlm(args);
  started.push(mrlm);
  return mrlm;
};

/** Creates the directory of a run, with an empty store. */
async function newRun(): Promise<RunDirectory> {
  const { config } = parseConfig(JSON.stringify({ ...TINY, output: { directory } }), {
    path: join(directory, "run.yaml"),
  });
  const run = RunDirectory.create(config, "");
  await (await openLocalStore({ ...run.store, purpose: "train", endsLeases: false })).close();
  return run;
}

test("U6: mrlm play of the same user finds the token of a store server that was given none", async () => {
  const run = await newRun();
  run.writeRecord({ status: "finished" });
  const server = begin(["store", "serve", "--json", "--run", run.path, "--port", "0"]);
  const address = (await server.event(({ event }) => event === "listening"))["address"] as string;
  const token = join(run.path, "store.token");
  expect(statSync(token).mode & 0o777).toBe(0o600);
  const elsewhere = address.replace("127.0.0.1", "localhost");
  const [found, unknown, given] = await Promise.all([
    begin(["play", "--store", address]).finished,
    begin(["play", "--store", elsewhere]).finished,
    begin(["play", "--store", elsewhere, "--token-file", token]).finished,
  ]);
  expect([found, unknown, given]).toMatchObject([
    { code: 0, stderr: expect.stringContaining("has finished") },
    { code: 2, stderr: expect.stringMatching(/UNAUTHENTICATED[^]*--token-file/) },
    { code: 0, stderr: expect.stringContaining("has finished") },
  ]);
});

const describeAsRoot = noOtherUser === undefined ? describe : describe.skip;

describeAsRoot(`another user of the machine (skipped where ${noOtherUser ?? "no other user can be tried"})`, () => {
  testWithEngine(
    "S1: reaches neither the environment server nor the engine of a run, with or without what it finds in /proc",
    async () => {
      const victim = join(directory, "victim");
      const config = writeConfig(directory, {
        ...TINY,
        stages: [{ ...TINY.stages[0], steps: 100_000 }],
        distributed: { nproc_per_node: 2 },
      });
      const mrlm = begin(["train", "--json", "--config", config, "--output", directory]);
      const engineOf = (await mrlm.event(({ event, role }) => event === "process" && role === "engine"))[
        "address"
      ] as string;
      const serverOf = (await mrlm.event(({ event, role }) => event === "process" && role === "server"))[
        "address"
      ] as string;
      await mrlm.event(({ event }) => event === "iteration");
      const pids = processTree(mrlm.child.pid as number).map(({ pid }) => pid);
      const argumentsOf = pids.flatMap((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0"));
      const files = [
        ...argumentsOf.filter((each) => /token/.test(each) && each.startsWith("/")),
        ...pids.map((pid) => `/proc/${pid}/environ`),
      ];
      const guesses = ["", "x", ...argumentsOf.filter((each) => /^[\w-]{8,}$/.test(each))].map((token) => ({
        authorization: `Bearer ${token}`,
      }));
      const ports = listening(pids);
      expect(ports).toEqual(expect.arrayContaining([engineOf, serverOf]));

      const plain = [
        reset(serverOf),
        exportTo(engineOf, victim),
        ...ports.flatMap((port) => [reset(port), describeEngine(port)]).map((call) => ({ ...call, limitMs: 2_000 })),
      ];
      const found = intrude(
        [
          ...plain,
          ...guesses.flatMap((headers) => [
            { ...reset(serverOf), headers },
            { ...describeEngine(engineOf), headers },
          ]),
        ],
        files,
      );
      const step = mrlm.lastStep();
      await mrlm.event((event) => event.event === "iteration" && (event["step"] as number) > step + 1);
      expect(found.uid).not.toBe(0);
      expect(found.files.filter((content) => content !== "EACCES" && content !== "ENOENT")).toEqual([]);
      expect(found.answers.filter(({ status, bytes }) => status === "0" || bytes !== "")).toEqual([]);
      expect(
        new Set([...found.answers.slice(0, 2), ...found.answers.slice(plain.length)].map(({ status }) => status)),
      ).toEqual(new Set([UNAUTHENTICATED]));
      expect(existsSync(victim)).toBe(false);
    },
    120_000,
  );

  test("U6: gets neither the configuration of a run nor the token of its engine from its store server", async () => {
    const run = await newRun();
    const lock = run.lock();
    run.writeEngine({ address: "127.0.0.1:1", token: "engine-secret" });
    const server = begin(["store", "serve", "--json", "--run", run.path, "--port", "0"]);
    const address = (await server.event(({ event }) => event === "listening"))["address"] as string;
    const call = { address, path: STORE_SERVICE.describe.path, body: new Uint8Array() };
    const tokenFile = join(run.path, "store.token");
    const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
    const found = intrude(
      [call, { ...call, path: STORE_SERVICE.commit.path }, { ...call, headers: { authorization: "Bearer x" } }],
      [tokenFile, join(run.path, "engine.json")],
    );
    expect(found.answers.map(({ status, bytes }) => [status, bytes])).toEqual(Array(3).fill([UNAUTHENTICATED, ""]));
    expect(found.files).toEqual(["EACCES", "EACCES"]);
    const [own] = intrude([{ ...call, headers: { authorization } }]).answers;
    expect(own?.status).toBe("0");
    expect(Buffer.from(own?.bytes as string, "base64").toString("latin1")).toContain("engine-secret");
    lock.release();
  });

  test("S1: reads below --data-root of a server without a token, and nothing else; --any-data needs a token", async () => {
    const server = begin(["serve", "--json", "--environments", "math", "--port", "0", "--data-root", directory]);
    const address = (await server.event(({ event }) => event === "listening"))["address"] as string;
    const elsewhere = join(other, "problems.jsonl");
    writeFileSync(elsewhere, readFileSync(secretFile), { mode: 0o600 });
    const { answers } = intrude([reset(address), reset(address, elsewhere)]);
    expect(answers[0]).toMatchObject({ status: "0" });
    expect(Buffer.from(answers[0]?.bytes as string, "base64").toString("latin1")).toContain("the owner's own question");
    expect(answers[1]).toMatchObject({
      bytes: "",
      message: expect.stringContaining("is not below the folder that this server shares"),
    });
    expect(await begin(["serve", "--any-data"]).finished).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--token-file"),
    });
  });
});
