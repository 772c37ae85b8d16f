import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { type JsonObject, MrlmError, type PolicyId } from "@mrlm/spec";
import { z } from "zod";
import { filesBelow, renameAtomically, sha256OfFile, syncToDisk, writeAtomically } from "./atomic-write.ts";

/** List of the files of a checkpoint. It is written last, so writing a checkpoint without one was interrupted. */
const manifestSchema = z.object({
  formatVersion: z.literal(1),
  files: z.record(z.string(), z.object({ bytes: z.int().nonnegative(), sha256: z.string() })),
});
type Manifest = z.output<typeof manifestSchema>;

/** Checkpoint whose files are all present and unchanged. */
export interface Checkpoint {
  readonly path: string;
  /** Directory in which the engine saved its models. */
  readonly engineDirectory: string;
  readonly state: JsonObject;
}

/** Writers of the parts of a checkpoint other than its state. */
export interface CheckpointContents {
  /** Writes the engine's models, with everything that a bit-identical continuation needs. */
  engine(directory: string): Promise<unknown>;
  /** Writes the policies as Hugging Face directories, in the folders that {@link modelFolder} names. */
  models(directory: string): Promise<unknown>;
}

/**
 * Checkpoints of a run:
 *
 *     manifest.json    SHA-256 of every file, written last
 *     state.json       state of the run
 *     engine/          every model with its optimizer, for a bit-identical continuation
 *     model/           the policy as a Hugging Face directory; models/NAME/ of each of several policies
 *
 * A checkpoint is written under a temporary name. After all files and the manifest are on the disk, it is renamed. So a checkpoint under its final name
 * is complete, whenever the process was killed.
 */
export class Checkpoints {
  readonly #directory: string;

  constructor(runDirectory: string) {
    this.#directory = join(runDirectory, "checkpoints");
  }

  /**
   * Writes a checkpoint, removes all but the newest `keep`, and returns its path.
   * @param position with the index of the stage that a resumed run begins or continues: the end of a stage differs from the beginning of the next
   */
  async write(
    position: { readonly step: number; readonly stage: number },
    keep: number,
    state: JsonObject,
    contents: CheckpointContents,
  ): Promise<string> {
    const name = `${String(position.step).padStart(8, "0")}-${position.stage}`;
    // An engine whose trainer was killed may still be writing to a directory with the process id of that trainer.
    const temporary = join(this.#directory, `${name}.${process.pid}.partial`);
    const path = join(this.#directory, name);
    try {
      rmSync(temporary, { recursive: true, force: true });
      mkdirSync(temporary, { recursive: true });
      await contents.engine(join(temporary, "engine"));
      await contents.models(temporary);
      writeAtomically(join(temporary, "state.json"), JSON.stringify(state));
      const manifest: Manifest = { formatVersion: 1, files: await describeFiles(temporary) };
      writeAtomically(join(temporary, "manifest.json"), JSON.stringify(manifest, null, 1));
      rmSync(path, { recursive: true, force: true });
      renameAtomically(temporary, path);
    } catch (error) {
      // On a full disk, an incomplete checkpoint would block further writes.
      rmSync(temporary, { recursive: true, force: true });
      throw error;
    }
    for (const old of this.names().slice(keep)) rmSync(join(this.#directory, old), { recursive: true, force: true });
    return path;
  }

  path(name: string): string {
    return join(this.#directory, name);
  }

  /** Returns the names of the checkpoints under their final name, the newest first. */
  names(): string[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory)
      .filter((name) => NAME.test(name))
      .sort((a, b) => compare(b, a));
  }

  /** Step of the oldest checkpoint; `undefined` if there is none. */
  oldestStep(): number | undefined {
    const name = this.names().at(-1);
    return name === undefined ? undefined : Number.parseInt(name, 10);
  }

  /**
   * Opens the newest complete checkpoint; `undefined` if there is no checkpoint. Rejects with CHECKPOINT_INCOMPLETE if all of them are damaged.
   * @param onDamaged called for each newer one with its fault and the checkpoint that is used instead
   */
  async newest(onDamaged: (message: string) => void): Promise<Checkpoint | undefined> {
    const names = this.names();
    const faults: string[] = [];
    for (const name of names) {
      try {
        const found = await openCheckpoint(join(this.#directory, name));
        for (const fault of faults) onDamaged(`${fault} Checkpoint ${name} is complete and is used instead.`);
        return found;
      } catch (error) {
        if (!MrlmError.hasCode(error, "CHECKPOINT_INCOMPLETE")) throw error;
        faults.push(error.message);
      }
    }
    if (faults.length > 0)
      throw new MrlmError(
        "CHECKPOINT_INCOMPLETE",
        `None of the checkpoints in ${this.#directory} is complete. ${faults.join(" ")}`,
        {
          hint: "Start a new run, or restore one of them from a copy.",
        },
      );
    return undefined;
  }

  /** Removes incomplete checkpoints, and those later than `kept`. Returns the names of the later ones. */
  clean(kept: Checkpoint | undefined): string[] {
    if (!existsSync(this.#directory)) return [];
    const names = readdirSync(this.#directory);
    const later = names.filter(
      (name) => NAME.test(name) && (kept === undefined || compare(name, basename(kept.path)) > 0),
    );
    for (const name of [...names.filter((each) => each.endsWith(".partial")), ...later])
      rmSync(join(this.#directory, name), { recursive: true, force: true });
    return later;
  }
}

/** Opens and verifies one checkpoint. Rejects with CHECKPOINT_INCOMPLETE, naming what is missing or changed. */
export async function openCheckpoint(given: string): Promise<Checkpoint> {
  const path = resolve(given);
  await verify(path, () => true);
  const state = JSON.parse(readFileSync(join(path, "state.json"), "utf8")) as JsonObject;
  return { path, engineDirectory: join(path, "engine"), state };
}

/** Whether a directory has the form of a checkpoint. */
export function isCheckpoint(path: string): boolean {
  return NAME.test(basename(path)) && existsSync(join(path, "state.json"));
}

/**
 * Verifies the Hugging Face directory in a checkpoint and returns its path. Rejects with CHECKPOINT_INCOMPLETE, with MODEL_DIRECTORY_MISSING if it has none,
 * and with USAGE where it has several and none of the name.
 * @param policy one of several
 */
export async function checkpointModel(given: string, policy?: PolicyId): Promise<string> {
  const path = resolve(given);
  const folder = chosenFolder(path, policy);
  const files = await verify(path, (name) => name.startsWith(`${folder}${sep}`));
  if (files > 0) return join(path, folder);
  throw new MrlmError(
    "MODEL_DIRECTORY_MISSING",
    `Checkpoint ${path} holds no Hugging Face directory: an older mrlm wrote it.`,
    { hint: "Continue its run: the next checkpoint has one." },
  );
}

/** Compares selected files with the manifest and returns their number. Rejects with CHECKPOINT_INCOMPLETE. */
async function verify(path: string, isSelected: (name: string) => boolean): Promise<number> {
  const damaged = (what: string, cause?: unknown): MrlmError =>
    new MrlmError("CHECKPOINT_INCOMPLETE", `Checkpoint ${path} ${what}.`, { cause });
  let manifest: Manifest;
  try {
    manifest = manifestSchema.parse(JSON.parse(readFileSync(join(path, "manifest.json"), "utf8")));
  } catch (error) {
    throw damaged("has no readable manifest.json", error);
  }
  const selected = Object.entries(manifest.files).filter(([name]) => isSelected(name));
  for (const [name, { bytes, sha256 }] of selected) {
    const file = join(path, name);
    if (!existsSync(file)) throw damaged(`lacks ${name}`);
    const size = statSync(file).size;
    if (size < bytes) throw damaged(`was cut: ${name} has ${size} bytes of ${bytes}`);
    if (size > bytes) throw damaged(`was changed: ${name} has ${size} bytes instead of ${bytes}`);
    if ((await sha256OfFile(file)) !== sha256) throw damaged(`was changed: the checksum of ${name} differs`);
  }
  return selected.length;
}

/** Returns the folder of a policy's Hugging Face directory, in a run or a checkpoint. */
export function modelFolder(policy?: PolicyId): string {
  return policy === undefined ? "model" : join(MODELS, policy);
}

/**
 * Returns the folder of the model that is meant in a run or a checkpoint. Throws USAGE for several policies without a name, and for an unknown name.
 * @param policy default: the only one
 */
export function chosenFolder(path: string, policy: PolicyId | undefined): string {
  const names = policyFolders(path);
  if (policy !== undefined ? names.includes(policy) : names.length === 0) return modelFolder(policy);
  // The only policy may be named too.
  if (names.length === 0) return modelFolder();
  const fault = policy === undefined ? `${path} has several policies` : `${path} has no policy "${policy}"`;
  throw new MrlmError("USAGE", `${fault}.`, { hint: `Name one of them by --policy: ${names.join(", ")}.` });
}

/** Returns the names of the policies of a run or a checkpoint with several. */
export function policyFolders(path: string): PolicyId[] {
  return existsSync(join(path, MODELS)) ? readdirSync(join(path, MODELS)).toSorted() : [];
}

/** Folder of the models of several policies. */
const MODELS = "models";
const NAME = /^\d{8,}-\d+$/;

/** Compares two names by step, then by stage. */
function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((name) => name.split("-").map(Number) as [number, number]) as [
    [number, number],
    [number, number],
  ];
  return a[0] - b[0] || a[1] - b[1];
}

async function describeFiles(directory: string): Promise<Manifest["files"]> {
  const files: Record<string, { bytes: number; sha256: string }> = {};
  for (const name of filesBelow(directory)) {
    const path = join(directory, name);
    syncToDisk(path);
    files[name] = { bytes: statSync(path).size, sha256: await sha256OfFile(path) };
  }
  for (const folder of new Set(Object.keys(files).map((name) => dirname(join(directory, name))))) syncToDisk(folder);
  return files;
}
