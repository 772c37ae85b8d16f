import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { silentLogger } from "@mrlm/kit/service";
import { serveStore, type StoreSource } from "@mrlm/server";
import { openPlayedRun } from "../src/services/played-run.ts";
import { ServedStore } from "../src/services/served-store.ts";
import { announceStoreToken, findStoreToken, makeStoreToken } from "../src/services/store-token.ts";

type StoreServer = Awaited<ReturnType<typeof serveStore>>;

const CONFIG = "name: x\nmodel: { path: ./m }\nenvironments: [{ id: math }]\nstages: [{ algorithm: grpo, steps: 1 }]\n";
const { signal } = new AbortController();

let folder: string;
let server: StoreServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-played-"));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true });
});

async function serve(described: Partial<ReturnType<StoreSource["describe"]>>): Promise<string> {
  const describe = () => ({ path: "runs/x", config: CONFIG, hasEnded: false, isLocked: true, ...described });
  const store = () => Promise.reject(new Error("There is none."));
  server = await serveStore({ address: "127.0.0.1:0", source: { store, describe } });
  return `localhost:${server.port}`;
}

const open = (options: Parameters<typeof openPlayedRun>[0]) => openPlayedRun(options, signal, () => undefined);

describe("the options of mrlm play", () => {
  test.each([
    [{}, "--run"],
    [{ run: "x", store: "x:1" }, "--run"],
    [{ run: "x", tlsServerName: "y" }, "--tls-server-name is for a --store"],
    [{ run: "x", engine: ["y:1"] }, "--engine is for a --store"],
    [{ store: "x:1", set: ["sampling.temperature=2"] }, "sampling.temperature"],
    [{ store: "x:1", set: ["servers=2"] }, "servers=2"],
    [{ store: "postgres://x/y?run=1", tokenFile: "z" }, "--token-file is for a store server"],
  ])("%j is refused", async (options, message) => {
    await expect(open(options)).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining(message) });
  });

  test("the run of a server has its configuration, with the keys of this machine", async () => {
    const store = await serve({ training: { since: 5, address: "127.0.0.1:7", token: "t" } });
    const run = await open({ store, set: ["server.address=[a:1]", "base_directory=/data"] });
    expect(run.loaded.config).toMatchObject({ name: "x", base_directory: "/data", server: { address: ["a:1"] } });
    const training = { since: 5, address: "127.0.0.1:7", token: "t" };
    expect(await run.find()).toMatchObject({ training, hasEnded: false, isLocked: true });
    await server?.close();
    expect(await run.find()).toBeUndefined();
    await run.close();
    const through = await open({ store: await serve({ training }), engine: ["127.0.0.1:8"] });
    expect((await through.find())?.training?.address).toBe("127.0.0.1:8");
    await through.close();
  });

  test("directories that killed processes left are removed, those of living ones stay", async () => {
    const { pid: dead } = spawnSync(process.execPath, ["--version"]);
    const [left, kept] = [dead, process.pid].map((pid) => join(tmpdir(), `mrlm-play-${hostname()}-${pid}-test`));
    for (const path of [left, kept]) mkdirSync(path as string);
    const run = await open({ store: await serve({}) });
    expect([left, kept].map((path) => existsSync(path as string))).toEqual([false, true]);
    rmSync(kept as string, { recursive: true });
    await run.close();
    expect(existsSync(run.configPath)).toBe(false);
  });

  test("an engine that only another machine reaches is named", async () => {
    const port = (await serve({ training: { since: 5, address: "127.0.0.1:7" } })).split(":").at(-1);
    // The same machine by an address that is not known as its own.
    const run = await open({ store: `[::ffff:127.0.0.1]:${port}` });
    await expect(run.find()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("127.0.0.1:7"),
    });
    await run.close();
  });

  test("a store without a run is refused", async () => {
    await expect(open({ store: await serve({ config: "" }) })).rejects.toMatchObject({ code: "USAGE" });
  });
});

describe("the served store", () => {
  test("of a run that has not begun: its configuration, and an error until the store exists", async () => {
    writeFileSync(join(folder, "config.yaml"), CONFIG);
    const source = new ServedStore(folder, silentLogger);
    expect(source.describe()).toEqual({ path: folder, config: CONFIG, hasEnded: false, isLocked: false });
    await expect(source.store()).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("does not exist yet"),
    });
    await source.close();
  });

  test("of a file that is no store is refused", () => {
    const path = join(folder, "file");
    writeFileSync(path, "text");
    expect(() => new ServedStore(path, silentLogger)).toThrow(expect.objectContaining({ code: "STORE_INVALID" }));
    expect(() => new ServedStore(join(folder, "none"), silentLogger)).toThrow(
      expect.objectContaining({ code: "RUN_NOT_FOUND" }),
    );
  });
});

describe("U6: the token of a store server that is given none", () => {
  test("is found by the address of the server, which this user alone can announce", () => {
    const file = join(folder, "store.token");
    const withdraw = announceStoreToken("127.0.0.1:5", file);
    expect([findStoreToken("127.0.0.1:5"), findStoreToken("127.0.0.1:6"), findStoreToken("localhost:5")]).toEqual([
      file,
      undefined,
      undefined,
    ]);
    withdraw();
    expect(findStoreToken("127.0.0.1:5")).toBeUndefined();
    // A folder of a process that has ended, or of another user, announces nothing.
    const { pid: dead } = spawnSync(process.execPath, ["--version"]);
    const left = join(tmpdir(), `mrlm-store-${hostname()}-${dead}-test`);
    mkdirSync(left);
    writeFileSync(join(left, "served.json"), JSON.stringify({ address: "127.0.0.1:5", tokenFile: file }));
    expect(findStoreToken("127.0.0.1:5")).toBeUndefined();
    rmSync(left, { recursive: true });
  });

  test("stays the same, unless another user could have read it", () => {
    const file = join(folder, "store.token");
    const made = (): string => {
      makeStoreToken(file);
      return readFileSync(file, "utf8");
    };
    const token = made();
    expect(token).toMatch(/^[0-9a-f]{64}\n$/);
    expect(made()).toBe(token);
    chmodSync(file, 0o640);
    expect(made()).not.toBe(token);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, "");
    expect(made()).toMatch(/^[0-9a-f]{64}\n$/);
    expect(() => makeStoreToken(join(folder, "missing", "store.token"))).toThrow(
      expect.objectContaining({ code: "WRITE_FAILED" }),
    );
  });
});
