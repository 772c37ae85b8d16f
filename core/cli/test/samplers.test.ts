import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { silentLogger } from "@mrlm/kit/service";
import { loadConfig, RunDirectory } from "@mrlm/runtime";
import type { CommandContext } from "../src/command-context.ts";
import { sample } from "../src/commands/sample.ts";
import { followSamplers, promisesBits, type SamplerPools } from "../src/services/samplers.ts";

test("samplers that join are found after looks that failed, which are reported once", async () => {
  const path = mkdtempSync(join(tmpdir(), "mrlm-followed-"));
  writeFileSync(join(path, "config.yaml"), "");
  const samplers = join(path, "samplers");
  writeFileSync(samplers, "");
  const stop = new AbortController();
  const warnings: string[] = [];
  const added: object[] = [];
  const pool = {
    add: (place: object) => {
      added.push(place);
      stop.abort();
    },
  };
  const warn = (text: string): void => {
    warnings.push(text);
    rmSync(samplers);
    mkdirSync(samplers);
    const place = { name: "late", address: "127.0.0.1:1", pid: process.pid, host: hostname() };
    writeFileSync(join(samplers, "late.json"), JSON.stringify(place));
  };
  await followSamplers(RunDirectory.open(path), new Map([["main", pool]]) as unknown as SamplerPools, {
    signal: stop.signal,
    logger: { ...silentLogger, warn },
  });
  expect(warnings).toEqual([expect.stringContaining("ENOTDIR")]);
  expect(added).toEqual([{ name: "late", address: "127.0.0.1:1" }]);
  rmSync(path, { recursive: true });
});

test("a server of another project samples for a run that promises no bits, and is refused by one that does", async () => {
  const path = mkdtempSync(join(tmpdir(), "mrlm-promised-"));
  const write = (play: string, mode: string): void =>
    writeFileSync(
      join(path, "config.yaml"),
      JSON.stringify({
        ...{ model: { path: "model" }, environments: [{ id: "math@2" }] },
        stages: [{ algorithm: "grpo@1", steps: 1 }],
        ...{ play: { mode: play }, engine: { mode } },
      }),
    );
  for (const [play, mode] of [
    ["sync", "auto"],
    ["sync", "deterministic"],
    ["pipelined", "auto"],
  ] as const) {
    write(play, mode);
    await expect(
      sample({ console: { note: () => undefined } } as unknown as CommandContext, {
        ...{ run: path, plugin: "vllm", url: "http://127.0.0.1:1" },
      }),
    ).rejects.toMatchObject({ code: "SAMPLER_DIFFERS", hint: expect.stringContaining("engine.mode: throughput") });
  }
  for (const [play, mode] of [
    ["sync", "throughput"],
    ["async", "auto"],
  ] as const) {
    write(play, mode);
    expect(promisesBits(loadConfig(join(path, "config.yaml")).config)).toBe(false);
  }
  rmSync(path, { recursive: true });
});
