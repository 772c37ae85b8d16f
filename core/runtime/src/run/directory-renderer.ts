import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { chatRenderer } from "@mrlm/kit/renderer";
import { MrlmError, type Renderer } from "@mrlm/spec";
import { type RenderingKeys, renderingOf } from "../config/rendering-keys.ts";

/** Renderer of a model on this machine, and the longest sequence that its configuration states. */
export interface DirectoryRenderer {
  readonly renderer: Renderer;
  /** Tokens; `undefined` if the configuration states none. */
  readonly maxPositions: number | undefined;
}

/** Files of a Hugging Face directory that define its tokenizer. Only the first is required. */
export const TOKENIZER_FILES = [
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
  "additional_chat_templates/tool_use.jinja",
  "special_tokens_map.json",
  "added_tokens.json",
  "generation_config.json",
];

/** Reads the tokenizer of a Hugging Face directory without an engine. Throws MODEL_DIRECTORY_MISSING, MODEL_DIRECTORY_INVALID or TOKENIZER_INVALID. */
export function directoryRenderer(directory: string, keys: RenderingKeys = {}): DirectoryRenderer {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new MrlmError("MODEL_DIRECTORY_MISSING", `There is no model directory ${directory}.`);
  const found = TOKENIZER_FILES.filter((name) => existsSync(join(directory, name)));
  if (!found.includes("tokenizer.json"))
    throw new MrlmError(
      "MODEL_DIRECTORY_INVALID",
      `${directory} is not a Hugging Face model: it lacks tokenizer.json.`,
    );
  const tokenizerFiles = Object.fromEntries(
    found.map((name) => [name, new Uint8Array(readFileSync(join(directory, name)))]),
  );
  const [config, generation] = ["config.json", "generation_config.json"].map((name) => readJson(join(directory, name)));
  const ended = generation?.["eos_token_id"] ?? config?.["eos_token_id"] ?? [];
  const positions = config?.["max_position_embeddings"];
  return {
    renderer: chatRenderer({
      tokenizerFiles,
      ...renderingOf(keys),
      eosTokenIds: [ended].flat().filter((id): id is number => typeof id === "number"),
    }),
    maxPositions: typeof positions === "number" ? positions : undefined,
  };
}

function readJson(path: string): Readonly<Record<string, unknown>> | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  } catch (cause) {
    throw new MrlmError("MODEL_DIRECTORY_INVALID", `${path} is not JSON: ${(cause as Error).message}`, { cause });
  }
}
