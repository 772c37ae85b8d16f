import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ModelId, MrlmError } from "@mrlm/spec";

/** Manifest over the directories of the engines. */
const MANIFEST = "engines.json";

/** Content of the manifest, by engine. */
type Manifest = Readonly<Record<string, { readonly models: readonly ModelId[]; readonly checksum: string }>>;

/** Models of one engine in a checkpoint. */
interface CheckpointPart {
  readonly name: string;
  readonly models: readonly ModelId[];
}

/** Saves one directory for each engine that holds models, and a manifest over them last. The directory appears only when it is complete. */
export async function saveParts(
  directory: string,
  parts: readonly (CheckpointPart & {
    save(path: string): Promise<{ readonly bytes: number; readonly checksum: string }>;
  })[],
): Promise<{ readonly bytes: number; readonly checksum: string }> {
  const partial = `${directory}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  try {
    const saving = parts
      .filter(({ models }) => models.length > 0)
      .map(async ({ name, models, save }) => ({ name, models, ...(await save(join(partial, name))) }));
    // After an error the other engines write on, into a directory that is to be removed.
    await Promise.allSettled(saving);
    const saved = await Promise.all(saving);
    const manifest: Manifest = Object.fromEntries(
      saved.map(({ name, models, checksum }) => [name, { models, checksum }]),
    );
    const text = JSON.stringify(manifest, null, 2);
    await writeFile(join(partial, MANIFEST), text);
    await rm(directory, { recursive: true, force: true });
    await rename(partial, directory);
    const bytes = saved.reduce((sum, part) => sum + part.bytes, text.length);
    return { bytes, checksum: createHash("sha256").update(text).digest("hex") };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Returns the directories of a checkpoint of several engines. Rejects with CHECKPOINT_INCOMPLETE. */
export async function readParts(directory: string): Promise<readonly (CheckpointPart & { readonly path: string })[]> {
  try {
    const manifest = JSON.parse(await readFile(join(directory, MANIFEST), "utf8")) as Manifest;
    return Object.entries(manifest).map(([name, { models }]) => ({ name, models, path: join(directory, name) }));
  } catch (cause) {
    throw new MrlmError("CHECKPOINT_INCOMPLETE", `${directory} has no readable ${MANIFEST}.`, {
      hint: "A checkpoint of one engine is loaded by one engine: put `engines` of the run's configuration back.",
      cause,
    });
  }
}
