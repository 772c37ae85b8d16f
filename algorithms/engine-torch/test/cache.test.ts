import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { checkDiskSpace } from "../src/setup/disk-space.ts";
import { engineCache } from "../src/setup/environment-names.ts";
import { locateEngine } from "../src/setup/locate-engine.ts";
import { makeDirectory } from "../src/setup/setup-engine.ts";
import { resolveSetupOptions } from "../src/setup/setup-options.ts";
import { cpuBuild, LOCKED } from "../src/torch/torch-build.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const root = temporaryDirectory();

describe("the cache", () => {
  test("that cannot be made is an error with a way out", () => {
    expect(() => makeDirectory("/dev/null/cache")).toThrow(
      expect.objectContaining({ code: "SETUP_FAILED", hint: expect.stringContaining("MRLM_CACHE") }),
    );
  });

  test("names environments by lock files, Python, build of torch and platform, and by nothing else", () => {
    const identity = { lock: "a", python: { executable: "/usr/bin/python3.11", version: "3.11.7" }, build: cpuBuild() };
    const cache = engineCache("/cache", "linux-x64");
    const name = cache.environment(identity);
    expect(name).toMatch(/^\/cache\/engine\/python3\.11-torch-cpu-[0-9a-f]{16}$/);
    expect(cache.environment(structuredClone(identity))).toBe(name);
    const others = [
      cache.environment({ ...identity, lock: "b" }),
      cache.environment({ ...identity, python: { ...identity.python, version: "3.11.8" } }),
      cache.environment({ ...identity, build: LOCKED }),
      engineCache("/cache", "linux-arm64").environment(identity),
    ];
    expect(new Set([name, ...others]).size).toBe(5);
  });

  test("an empty one holds no engine", async () => {
    await expect(locateEngine({ env: { MRLM_CACHE: join(root, "empty") } })).resolves.toBeUndefined();
  });

  test("too little disk space is reported before anything is downloaded", () => {
    const message = expect.stringMatching(/takes about 2\.5 GB, and the disk of .* has 1\.0 GB left/);
    expect(() => checkDiskSpace("/cache", "cpu", 1e9)).toThrow(
      expect.objectContaining({ code: "SETUP_FAILED", message }),
    );
    expect(() => checkDiskSpace("/cache", "cpu", 3e9)).not.toThrow();
    expect(() => checkDiskSpace("/cache", "extra", 0.2e9)).toThrow("0.2 GB left");
    expect(() => checkDiskSpace(root, "extra")).not.toThrow();
  });
});

describe("options", () => {
  test("come before variables, and an empty variable counts as unset", () => {
    const env = { MRLM_PYTHON: "/env/python", MRLM_TORCH: "cpu", MRLM_TORCH_INDEX: "" };
    expect(resolveSetupOptions({ python: "/option/python", torch_index: undefined }, env)).toEqual({
      python: "/option/python",
      torch: "cpu",
    });
  });

  test("an unknown one, and a value that is none, are named", () => {
    expect(() => resolveSetupOptions({ pyhton: "x" }, {})).toThrow(
      expect.objectContaining({ code: "OPTIONS_INVALID", message: expect.stringContaining("pyhton") }),
    );
    const refused = expect.objectContaining({
      code: "OPTIONS_INVALID",
      message: expect.stringContaining("torch (MRLM_TORCH)"),
    });
    expect(() => resolveSetupOptions({}, { MRLM_TORCH: "gpu" })).toThrow(refused);
  });
});
