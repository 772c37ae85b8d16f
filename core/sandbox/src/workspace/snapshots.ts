import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";

/** Time after its last use at which a kept snapshot is removed, in milliseconds: 30 days. */
const KEPT_MS = 30 * 86_400_000;

/** Snapshot that exists until its workspace is closed. */
export interface Snapshot {
  readonly name: string;
  readonly path: string;
}

/** Files of the snapshots of a provider. Each has a base: what its content lies over, such as an image. */
export class Snapshots {
  readonly #folder: string;
  readonly #kept: string;
  readonly #bases = new Map<string, string>();

  /**
   * @param folder for snapshots without a key
   * @param kept for those with one; it is made where it is missing. Those that have not been used for long are removed
   */
  constructor(folder: string, kept: string) {
    this.#folder = folder;
    this.#kept = kept;
    removeUnused(kept);
  }

  /** Names a new snapshot, whose file the caller writes. */
  make(): Snapshot {
    const name = `snapshot-${crypto.randomUUID()}`;
    return { name, path: join(this.#folder, name) };
  }

  /** Shows a snapshot that has been written to all workspaces of a base. With a key it is copied, as a whole, to where other processes find it. Returns its name. */
  async add({ name, path }: Snapshot, base: string, key?: string): Promise<string> {
    this.#bases.set(name, base);
    if (key === undefined) return name;
    const file = this.#keptFile(base, key);
    const writing = `${file}.${crypto.randomUUID()}`;
    await mkdir(this.#kept, { recursive: true });
    await copyFile(path, writing);
    await rename(writing, file);
    return key;
  }

  /** Returns the file of a snapshot. Throws OPTIONS_INVALID where there is none of this name and base. */
  find(name: string, base: string): string {
    const path = this.#bases.get(name) === base ? join(this.#folder, name) : this.#keptFile(base, name);
    if (!existsSync(path)) throw noSnapshot(name);
    ignoringErrors(() => utimesSync(path, new Date(), new Date()));
    return path;
  }

  async remove(snapshots: readonly Snapshot[]): Promise<void> {
    for (const { name } of snapshots) this.#bases.delete(name);
    await Promise.all(snapshots.map(({ path }) => rm(path, { force: true })));
  }

  #keptFile(base: string, key: string): string {
    return join(
      this.#kept,
      createHash("sha256")
        .update(JSON.stringify([base, key]))
        .digest("hex"),
    );
  }
}

export function noSnapshot(name: string): MrlmError {
  return new MrlmError("OPTIONS_INVALID", `There is no snapshot ${name} of a workspace with the same image.`, {
    hint: "A snapshot without a key exists until the workspace that made it is closed.",
  });
}

function removeUnused(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  for (const path of names.map((name) => join(folder, name)))
    ignoringErrors(() => {
      if (Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path);
    });
}

/** Another process may remove a file at the same time, and the folder may be of another user. */
function ignoringErrors(work: () => void): void {
  try {
    work();
  } catch {
    // As above.
  }
}
