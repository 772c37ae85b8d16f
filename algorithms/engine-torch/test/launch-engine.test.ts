import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { EngineProcess } from "@mrlm/spec/host";
import { engineEnvironment } from "../src/launch/engine-environment.ts";
import { launchEngine, type LaunchOptions } from "../src/launch/launch-engine.ts";
import { machinePython } from "./support/python.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const describeWithPython = machinePython === undefined ? describe.skip : describe;
const root = temporaryDirectory();
const fakeEngine = fileURLToPath(new URL("fixtures/fake-engine", import.meta.url));

describeWithPython("launchEngine with a process that implements the start-up protocol", () => {
  const running: EngineProcess[] = [];
  afterAll(() => Promise.all(running.map((engine) => engine.stop())));
  let count = 0;
  const launch = async (behaviour = "", options: LaunchOptions = {}): Promise<EngineProcess> => {
    const engine = await launchEngine({
      executable: machinePython!.executable,
      pythonPath: fakeEngine,
      env: { ...process.env, FAKE_ENGINE: behaviour, PYTHONHOME: "/nonsense" },
      logDirectory: join(root, String((count += 1))),
      ...options,
    });
    running.push(engine);
    return engine;
  };
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  /** Waits for the end of a process that is not a child of this process. An orphan is a zombie until the system has waited for it. */
  const gone = async (pid: number): Promise<void> => {
    const isZombie = (): boolean =>
      spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.startsWith("Z");
    while (isAlive(pid) && !isZombie()) await sleep(20);
  };
  const log = (): string => readFileSync(join(root, String(count), "engine.log"), "utf8");

  test("it comes up past what libraries print, with clean variables and its flags, and stops when asked", async () => {
    const engine = await launch("", { device: "cpu", mode: "deterministic", threads: 2, lanes: 3, seed: 7 });
    expect(engine).toMatchObject({ address: "127.0.0.1:1", device: "cpu", instanceId: "abc" });
    expect(isAlive(engine.pid)).toBe(true);
    await engine.stop();
    await expect(engine.exited).resolves.toEqual({ code: 0, signal: null });
    expect(isAlive(engine.pid)).toBe(false);
    expect(log()).toContain("a library greets you\n{not json\n");
    const record = JSON.parse(
      log()
        .split("\n")
        .find((line) => line.startsWith('{"'))!,
    );
    expect(record.argv.join(" ")).toMatch(
      /^--host 127\.0\.0\.1 --port 0 --device cpu --mode deterministic --threads 2 --lanes 3 --seed 7 --token-file \S+$/,
    );
    expect(record.environment).toMatchObject({ PYTHONHOME: null, OMP_NUM_THREADS: "2", HF_HUB_OFFLINE: "1" });
  });

  test("one that fails to start is reported with its last words and its log", async () => {
    const message = expect.stringMatching(
      /ended before it accepted calls: exit code 3\.\n {2}ImportError: no such thing\n {2}Log: .*engine\.log/,
    );
    await expect(launch("crash at start")).rejects.toMatchObject({ code: "ENGINE_START_FAILED", message });
    await expect(launch("", { executable: "/no/python" })).rejects.toMatchObject({
      code: "ENGINE_START_FAILED",
      message: expect.stringContaining("ENOENT"),
    });
  });

  test("one that does not come up in time is ended", async () => {
    await expect(launch("never ready", { startTimeoutMs: 300 })).rejects.toMatchObject({
      code: "ENGINE_START_FAILED",
      message: expect.stringContaining("within 0.3 s"),
    });
  });

  test("an exit while it runs is reported with its cause and the end of its log", async () => {
    const engine = await launch("die later");
    const exit = await engine.exited;
    expect(exit).toMatchObject({ code: null, signal: "SIGKILL", cause: { code: "ENGINE_EXITED" } });
    expect(exit.cause?.message).toMatch(/killed by SIGKILL.*CUDA error: something/s);
  });

  test("one that ignores SIGTERM is killed after the grace period", async () => {
    const engine = await launch("ignore SIGTERM", { graceMs: 200 });
    await engine.stop();
    await expect(engine.exited).resolves.toEqual({ code: null, signal: "SIGKILL" });
  });

  test("what it has started ends with it", async () => {
    const engine = await launch("leave a child");
    // The line is on another stream than the one that states that it is ready.
    while (!/child \d+/.test(log())) await sleep(10);
    const child = Number(/child (\d+)/.exec(log())?.[1]);
    expect(isAlive(child)).toBe(true);
    await engine.stop();
    await expect(engine.exited).resolves.toMatchObject({ code: 0 });
    await gone(child);
  });

  test("it ends when the process that launched it is killed", async () => {
    const script = fileURLToPath(new URL("fixtures/launch-and-wait.mjs", import.meta.url));
    const launcher = spawn(
      process.execPath,
      ["--conditions=mrlm-source", script, machinePython!.executable, fakeEngine],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [output] = await once(launcher.stdout, "data");
    const engine = Number(String(output));
    expect(isAlive(engine)).toBe(true);
    launcher.kill("SIGKILL");
    await gone(engine);
  });

  test("an abort ends it, before and after it has come up", async () => {
    const early = new AbortController();
    const starting = launch("never ready", { signal: early.signal });
    early.abort();
    await expect(starting).rejects.toMatchObject({ code: "CANCELLED" });
    const late = new AbortController();
    const engine = await launch("", { signal: late.signal });
    late.abort();
    await expect(engine.exited).resolves.toEqual({ code: 0, signal: null });
  });
});

test("without a setup the error names the missing command", async () => {
  const promise = launchEngine({ env: { MRLM_CACHE: join(root, "no-cache") } });
  await expect(promise).rejects.toMatchObject({
    code: "ENGINE_NOT_SET_UP",
    hint: expect.stringContaining("mrlm engine setup"),
  });
});

test("what the user has set stays, but for what changes the code that runs", () => {
  expect(engineEnvironment(undefined, { PATH: "/bin", PYTHONPATH: "/evil" }, "/package")).toMatchObject({
    PATH: "/bin",
    PYTHONPATH: "/package",
  });
  expect(engineEnvironment(undefined, {}, "/package")).not.toHaveProperty("OMP_NUM_THREADS");
  expect(engineEnvironment(undefined, { GLIBC_TUNABLES: "the user's" }, "/package")).toMatchObject({
    GLIBC_TUNABLES: "the user's",
  });
  expect(engineEnvironment(3, {}, "/package")).toMatchObject({ OMP_NUM_THREADS: "3", MKL_NUM_THREADS: "3" });
});
