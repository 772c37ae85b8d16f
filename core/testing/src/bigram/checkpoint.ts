import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";
import type { CreateModelOptions, LoadOptions } from "@mrlm/spec/host";
import { BigramModel } from "./model.ts";
import { randomParameters } from "./parameters.ts";
import { packArrays, readText, sha256, unpackArrays, writeDirectory } from "./storage.ts";

interface Manifest {
  readonly models: readonly {
    readonly options: Omit<CreateModelOptions, "source">;
    readonly config: Readonly<Record<string, unknown>>;
    readonly tokenizerFiles: Readonly<Record<string, string>>;
    readonly step: number;
    readonly version: number;
    readonly sha256: string;
  }[];
}

/** Writes all models with optimizer state and accumulated gradients. */
export async function saveModels(
  models: readonly BigramModel[],
  directory: string,
): Promise<{ bytes: number; checksum: string }> {
  const files: Record<string, string | Uint8Array> = {};
  const manifest: Manifest = {
    models: models.map((model, i) => {
      const weights = packArrays(model.arrays);
      files[`${i}.bin`] = weights;
      const { source: _source, ...options } = model.options;
      const tokenizerFiles = Object.fromEntries(
        Object.entries(model.tokenizerFiles).map(([name, content]) => [name, Buffer.from(content).toString("base64")]),
      );
      return {
        options,
        config: model.config,
        tokenizerFiles,
        step: model.optimizer.step,
        version: model.version,
        sha256: sha256(weights),
      };
    }),
  };
  const text = JSON.stringify(manifest);
  files["manifest.json"] = text;
  await writeDirectory(directory, files);
  return { bytes: Object.values(files).reduce((sum, content) => sum + content.length, 0), checksum: sha256(text) };
}

/** Reads the files of `saveModels`. */
export async function loadModels(directory: string, changes: LoadOptions = {}): Promise<BigramModel[]> {
  const manifest = JSON.parse(await readText(directory, "manifest.json")) as Manifest;
  return Promise.all(
    manifest.models.map(async ({ options, config, tokenizerFiles, step, version, sha256: expected }, i) => {
      const weights = await readFile(join(directory, `${i}.bin`));
      if (sha256(weights) !== expected)
        throw new MrlmError("CHECKPOINT_INCOMPLETE", `${directory}/${i}.bin is not what was saved.`);
      const files = Object.fromEntries(
        Object.entries(tokenizerFiles).map(([name, content]) => [name, new Uint8Array(Buffer.from(content, "base64"))]),
      );
      const full: CreateModelOptions = { ...options, ...changes, source: { kind: "directory", path: directory } };
      const model = new BigramModel(full, randomParameters(config, 0), config, files);
      unpackArrays(weights, model.arrays);
      model.optimizer.step = step;
      model.version = version;
      return model;
    }),
  );
}
