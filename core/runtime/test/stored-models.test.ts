import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { StoredModel } from "@mrlm/spec/host";
import { type LoadedConfig, parseConfig } from "../src/config/load-config.ts";
import { withStoredModels } from "../src/prepare/model-directories.ts";
import { adapterBase, isAdapter } from "../src/run/adapter-base.ts";
import { assertModelDirectory } from "../src/run/model-directory.ts";

const root = mkdtempSync(join(tmpdir(), "mrlm-stored-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const configOf = (model: string, more = ""): LoadedConfig =>
  parseConfig(`model: ${model}\nenvironments: [{ id: math }]\nstages: [{ algorithm: none }]\n${more}`, {
    path: join(root, "run.yaml"),
  });
const pathOf = ({ config }: LoadedConfig): unknown => config.policies["policy"]?.path;
const storedAs = (name: string): StoredModel => ({
  ...{ name, revision: "main", commit: "c".repeat(40), licence: "mit" },
  ...{ directory: join("/cache", name), bytes: 1 },
});

describe("the forms of a model", () => {
  test("hub, revision and gguf become the path by which every other place names a model", () => {
    expect(pathOf(configOf("{ hub: org/name }"))).toBe("hub:org/name");
    expect(pathOf(configOf("{ hub: org/name, revision: v1 }"))).toBe("hub:org/name@v1");
    expect(pathOf(configOf("{ path: 'hub:org/name' }"))).toBe("hub:org/name");
    expect(pathOf(configOf("{ gguf: ./a/m.gguf }"))).toBe(join(root, "a/m.gguf"));
  });

  test.each([
    ["{ hub: org/name, path: x }", /give one of `path`.*`hub`.*`gguf`.*`random`/],
    ["{ dtype: auto }", /give one of `path`/],
    ["{ path: x, revision: v1 }", /revision.* is for `hub`/],
    ["{ hub: name }", /must be ORG\/NAME/],
    ["{ hub: https://huggingface.co/org/name }", /must be ORG\/NAME/],
    ["{ gguf: model.bin }", /ends in .gguf/],
  ])("%s is refused", (model, message) => {
    expect(() => configOf(model)).toThrow(message);
  });

  test("models are fetched once each, wherever the configuration names them, and their directories take the place of the names", async () => {
    const loaded = parseConfig(
      `model: { hub: org/base, lora: { path: 'hub:org/adapter' } }
environments: [{ id: debate, players: { second: { model: 'hub:org/base' } } }]
eval: { environments: [{ id: debate, players: { second: { model: m.gguf } } }] }
stages: [{ algorithm: none, reference_model: { path: 'hub:org/teacher@v2' } }]`,
      { path: join(root, "run.yaml") },
    );
    const asked: string[] = [];
    const { config, models } = await withStoredModels(loaded, async (name) => (asked.push(name), storedAs(name)));
    const gguf = join(root, "m.gguf");
    expect(asked.toSorted()).toEqual([gguf, "hub:org/adapter", "hub:org/base", "hub:org/teacher@v2"].toSorted());
    expect(config.policies["policy"]).toMatchObject({
      path: "/cache/hub:org/base",
      lora: { path: "/cache/hub:org/adapter" },
    });
    expect(config.environments[0]?.players).toEqual({ second: { model: "/cache/hub:org/base" } });
    expect(config.eval.environments[0]?.players).toEqual({ second: { model: join("/cache", gguf) } });
    expect(config.stages[0]?.learners["policy"]?.reference_model).toEqual({ path: "/cache/hub:org/teacher@v2" });
    expect(Object.keys(models ?? {}).toSorted()).toEqual(asked.toSorted());
  });

  test("a configuration without such models is left as it is, and a remote engine needs a directory of its own", async () => {
    const loaded = configOf("{ path: x }");
    const never = () => Promise.reject(new Error("fetched"));
    expect(await withStoredModels(loaded, never)).toBe(loaded);
    const remote = configOf("{ hub: org/name }", "engine: { address: 127.0.0.1:1 }");
    await expect(withStoredModels(remote, never)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("reads the disk of its own"),
      hint: expect.stringContaining("mrlm models get"),
    });
  });
});

describe("an adapter of peft", () => {
  const adapter = (config: object): string => {
    const directory = mkdtempSync(join(root, "adapter-"));
    writeFileSync(join(directory, "adapter_config.json"), JSON.stringify(config));
    return directory;
  };

  test("names its base model: a directory, or a model of the hub", () => {
    mkdirSync(join(root, "base"));
    expect(adapterBase(adapter({ base_model_name_or_path: join(root, "base") }))).toBe(join(root, "base"));
    expect(adapterBase(adapter({ base_model_name_or_path: "../base" }))).toBe(join(root, "base"));
    expect(adapterBase(adapter({ base_model_name_or_path: "org/name" }))).toBe("hub:org/name");
    expect(adapterBase(adapter({ base_model_name_or_path: "org/name", revision: "v1" }))).toBe("hub:org/name@v1");
    for (const base of [null, "", "/home/of/others/model"])
      expect(() => adapterBase(adapter({ base_model_name_or_path: base }))).toThrow(/names no base model/);
  });

  test("and a folder with a GGUF file are named as what they are where a model is expected", () => {
    const directory = adapter({});
    expect(isAdapter(directory)).toBe(true);
    expect(() => assertModelDirectory(directory)).toThrow(/is an adapter of peft, and no model/);
    const folder = mkdtempSync(join(root, "gguf-"));
    writeFileSync(join(folder, "m.gguf"), "GGUF");
    expect(() => assertModelDirectory(folder)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(`gguf: ${join(folder, "m.gguf")}`) }),
    );
  });
});
