import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { silentLogger } from "@mrlm/kit/service";
import { RunDirectory } from "@mrlm/runtime";
import { followSamplers, type SamplerPools } from "../src/services/samplers.ts";

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
