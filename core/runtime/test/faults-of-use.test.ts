import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "@jest/globals";
import { loadConfig, parseConfig, PluginHost } from "@mrlm/runtime";

const FILE = "model: {path: m}\nstages: [{algorithm: sft}]\n";
const parse =
  (overrides: readonly string[], text = FILE) =>
  () =>
    parseConfig(text, { path: "run.yaml", overrides });

test("U17: what a --set leaves out is missing at that flag, not in the file", () => {
  expect(parse(["model.lora.rank=4"])).toThrow(/^--set model\.lora\.rank: model\.lora: needs rank and alpha/);
  expect(parse(["environments=[{weight: 1}]"])).toThrow(/^--set environments: environments\[0\]\.id: is missing/);
  expect(parse(["seed=1", "stages.0.until.every=2"])).toThrow(/^--set stages\.0\.until\.every: /);
  expect(parse(["seed=1"], "model: {path: m, lora: {rank: 4}}\nstages: [{algorithm: sft}]\n")).toThrow(
    /^run\.yaml:1:24: model\.lora: needs rank and alpha/,
  );
});

test("U17: a file that cannot be read is described in words", () => {
  const directory = mkdtempSync(`${tmpdir()}/mrlm-faults-`);
  expect(() => loadConfig(directory)).toThrow(`The configuration ${directory} cannot be read: it is a directory.`);
  expect(() => loadConfig(`${directory}/none.yaml`)).toThrow("cannot be read: there is no such file.");
});

test("U17: a missing algorithm names the package that provides it; a stranger's name is no package", async () => {
  const plugins = await PluginHost.of([]);
  await expect(plugins.algorithm("grpo")).rejects.toMatchObject({
    code: "PLUGIN_NOT_FOUND",
    hint: expect.stringContaining("npm install @mrlm/grpo"),
  });
  await expect(plugins.environment("math@2")).rejects.toMatchObject({
    hint: expect.stringContaining("npm install @mrlm/environment-math"),
  });
  await expect(plugins.algorithm("gpro")).rejects.toMatchObject({ hint: expect.not.stringContaining("npm install") });
});
