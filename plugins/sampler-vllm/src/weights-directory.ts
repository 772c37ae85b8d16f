import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";

/** Longest header of a safetensors file that is read. */
const MAX_HEADER = 100_000_000;

/**
 * Checks a directory before a server reads it: a server that fails to read weights ends. Rejects with WEIGHTS_INVALID for a file that is missing or incomplete, and for
 * a tied head, of which the server would keep the old copy.
 */
export async function checkDirectory(directory: string): Promise<void> {
  const config = await readConfig(directory);
  if (config.tie_word_embeddings !== false)
    throw invalid(directory, "its head is tied to the embedding; write it with `untied: true`");
  const files = (await readdir(directory)).filter((name) => name.endsWith(".safetensors") && name.startsWith("model"));
  if (files.length === 0) throw invalid(directory, "it has no model*.safetensors");
  const names = new Set<string>();
  for (const file of files) for (const name of await tensorNames(directory, file)) names.add(name);
  if (!names.has("lm_head.weight")) throw invalid(directory, "it has no tensor lm_head.weight");
}

/** Tokenizer files of a directory by name. */
export async function tokenizerFiles(directory: string): Promise<Readonly<Record<string, Uint8Array>>> {
  const skipped = /^(config|generation_config|model\.safetensors\.index)\.json$|\.safetensors$/;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !skipped.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)),
  );
}

async function readConfig(directory: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(join(directory, "config.json"), "utf8")) as Record<string, unknown>;
  } catch (error) {
    throw invalid(directory, `its config.json cannot be read: ${(error as Error).message}`);
  }
}

/** Reads the names of the tensors in a file. Rejects if the file is shorter or longer than they are. */
async function tensorNames(directory: string, file: string): Promise<string[]> {
  const handle = await open(join(directory, file));
  try {
    const { size } = await handle.stat();
    const start = Buffer.alloc(8);
    await handle.read(start, 0, 8, 0);
    const length = Number(start.readBigUInt64LE());
    if (length === 0 || length > Math.min(MAX_HEADER, size)) throw invalid(directory, `${file} has no header`);
    const header = Buffer.alloc(length);
    await handle.read(header, 0, length, 8);
    const tensors = Object.entries(JSON.parse(header.toString("utf8")) as Record<string, unknown>).filter(
      ([name]) => name !== "__metadata__",
    ) as [string, { readonly data_offsets: readonly [number, number] }][];
    const end = Math.max(0, ...tensors.map(([, { data_offsets }]) => data_offsets[1]));
    if (8 + length + end !== size)
      throw invalid(directory, `${file} has ${size} bytes in place of ${8 + length + end}`);
    return tensors.map(([name]) => name);
  } catch (error) {
    throw MrlmError.isInstance(error) ? error : invalid(directory, `${file}: ${(error as Error).message}`);
  } finally {
    await handle.close();
  }
}

function invalid(directory: string, what: string): MrlmError {
  return new MrlmError("WEIGHTS_INVALID", `The directory ${directory} holds no weights for vLLM: ${what}.`);
}
