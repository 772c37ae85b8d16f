import { readFile, readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type ModelId, MrlmError } from "@mrlm/spec";
import type { CreateModelOptions } from "@mrlm/spec/host";
import { BigramModel } from "./model.ts";
import { type BigramParameters, copyParameters, randomParameters } from "./parameters.ts";
import { unpackArrays } from "./storage.ts";

/** Creates a model from any source except adapters. */
export async function makeModel(
  options: CreateModelOptions,
  existing: (id: ModelId) => BigramModel,
): Promise<BigramModel> {
  const { source } = options;
  if (options.lora !== undefined || source.kind === "adapter-off") {
    throw new MrlmError("LORA_UNAVAILABLE", "A bigram model has no adapters.", {
      hint: "Train all its parameters, and copy it for a reference.",
    });
  }
  switch (source.kind) {
    case "random":
      return new BigramModel(
        options,
        randomParameters(source.config, source.seed),
        source.config,
        source.tokenizerFiles,
      );
    case "copy": {
      const { parameters, config, tokenizerFiles } = existing(source.of);
      return new BigramModel(options, copyParameters(parameters), config, tokenizerFiles);
    }
    case "directory":
      return fromDirectory(options, source.path);
  }
}

async function fromDirectory(options: CreateModelOptions, path: string): Promise<BigramModel> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw new MrlmError("MODEL_DIRECTORY_MISSING", `There is no model directory ${path}.`, { cause: error });
  });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(path, join(parentPath, name)).replaceAll(sep, "/"));
  if (!names.includes("config.json") || !names.includes("weights.bin")) {
    throw new MrlmError(
      "MODEL_DIRECTORY_INVALID",
      `${path} holds no bigram model: it needs config.json and weights.bin.`,
    );
  }
  const config = JSON.parse(await readFile(join(path, "config.json"), "utf8")) as Record<string, unknown>;
  const parameters: BigramParameters = randomParameters(config, 0);
  unpackArrays(await readFile(join(path, "weights.bin")), [parameters.logits, parameters.values]);
  const others = names.filter((name) => name !== "config.json" && name !== "weights.bin");
  const tokenizerFiles = Object.fromEntries(
    await Promise.all(others.map(async (name) => [name, new Uint8Array(await readFile(join(path, name)))] as const)),
  );
  return new BigramModel(options, parameters, config, tokenizerFiles);
}
