import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import { filesBelow, renameDurably, sha256OfFile, synchronise, writeDurably } from "./durable.ts";

/** Lists what a checkpoint consists of; it is written last, so a checkpoint without one was interrupted. */
interface Manifest {
  readonly formatVersion: 1;
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
}

/** A checkpoint whose every file is as it was written. */
export interface Checkpoint {
  readonly path: string;
  /** Where the engine saved its models. */
  readonly engineDirectory: string;
  readonly state: JsonObject;
}

/**
 * The checkpoints of a run. One is written beside its place and renamed into it, with every file on the disk and a manifest of their
 * SHA-256, so that what stands there under its name is complete, whenever the process was killed.
 */
export class Checkpoints {
  readonly #directory: string;

  constructor(runDirectory: string) {
    this.#directory = join(runDirectory, "checkpoints");
  }

  /**
   * Writes one and removes all but the newest `keep`.
   * @param stage index of the stage that a continuation begins or goes on with: the end of one stage is not the beginning of the next
   */
  async write(
    position: { readonly step: number; readonly stage: number },
    keep: number,
    state: JsonObject,
    saveEngine: (directory: string) => Promise<unknown>,
  ): Promise<string> {
    const name = `${String(position.step).padStart(8, "0")}-${position.stage}`;
    const temporary = join(this.#directory, `${name}.partial`);
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary, { recursive: true });
    await saveEngine(join(temporary, "engine"));
    writeDurably(join(temporary, "state.json"), JSON.stringify(state));
    const manifest: Manifest = { formatVersion: 1, files: await describeFiles(temporary) };
    writeDurably(join(temporary, "manifest.json"), JSON.stringify(manifest, null, 1));
    const path = join(this.#directory, name);
    rmSync(path, { recursive: true, force: true });
    renameDurably(temporary, path);
    for (const old of this.names().slice(keep)) rmSync(join(this.#directory, old), { recursive: true, force: true });
    return path;
  }

  /** Names of all that stand under their final name, the newest first. */
  names(): string[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory)
      .filter((name) => NAME.test(name))
      .sort((a, b) => compare(b, a));
  }

  /**
   * The newest that is complete; `undefined` when there is none at all. Rejects with CHECKPOINT_INCOMPLETE when there are some and each of
   * them is damaged.
   */
  async newest(onDamaged: (message: string) => void): Promise<Checkpoint | undefined> {
    const names = this.names();
    let last: MrlmError | undefined;
    for (const name of names) {
      try {
        return await openCheckpoint(join(this.#directory, name));
      } catch (error) {
        if (!MrlmError.hasCode(error, "CHECKPOINT_INCOMPLETE")) throw error;
        onDamaged(error.message);
        last = error;
      }
    }
    if (last !== undefined)
      throw new MrlmError("CHECKPOINT_INCOMPLETE", `None of the ${names.length} checkpoints in ${this.#directory} is complete. ${last.message}`, {
        hint: "Start the run anew.",
      });
    return undefined;
  }

  /** Removes what an interrupted write has left, and every checkpoint that is later than the one that the run goes back to. */
  clean(kept: Checkpoint | undefined): void {
    if (!existsSync(this.#directory)) return;
    for (const name of readdirSync(this.#directory)) {
      const isLater = NAME.test(name) && (kept === undefined || compare(name, basename(kept.path)) > 0);
      if (name.endsWith(".partial") || isLater) rmSync(join(this.#directory, name), { recursive: true, force: true });
    }
  }
}

/** Opens one checkpoint and verifies it. Rejects with CHECKPOINT_INCOMPLETE, naming what is missing or changed. */
export async function openCheckpoint(given: string): Promise<Checkpoint> {
  const path = resolve(given);
  const damaged = (what: string, cause?: unknown): MrlmError => new MrlmError("CHECKPOINT_INCOMPLETE", `Checkpoint ${path} ${what}.`, { cause });
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(join(path, "manifest.json"), "utf8")) as Manifest;
  } catch (error) {
    throw damaged("has no readable manifest.json", error);
  }
  for (const [name, { bytes, sha256 }] of Object.entries(manifest.files)) {
    const file = join(path, name);
    if (!existsSync(file)) throw damaged(`lacks ${name}`);
    const size = statSync(file).size;
    if (size !== bytes) throw damaged(`was cut: ${name} has ${size} bytes of ${bytes}`);
    if ((await sha256OfFile(file)) !== sha256) throw damaged(`was changed: the checksum of ${name} differs`);
  }
  const state = JSON.parse(readFileSync(join(path, "state.json"), "utf8")) as JsonObject;
  return { path, engineDirectory: join(path, "engine"), state };
}

const NAME = /^\d{8,}-\d+$/;

/** By step, then by stage. */
function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((name) => name.split("-").map(Number) as [number, number]) as [[number, number], [number, number]];
  return a[0] - b[0] || a[1] - b[1];
}

async function describeFiles(directory: string): Promise<Manifest["files"]> {
  const files: Record<string, { bytes: number; sha256: string }> = {};
  for (const name of filesBelow(directory)) {
    const path = join(directory, name);
    synchronise(path);
    files[name] = { bytes: statSync(path).size, sha256: await sha256OfFile(path) };
  }
  return files;
}
