import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cacheDirectory } from "@mrlm/kit/service";
import { MrlmError } from "@mrlm/spec";
import { pyodideFolder } from "./pyodide/emscripten-module.ts";
import { pythonFolder } from "./pyodide/python-folder.ts";

const builder = new URL(
  import.meta.url.endsWith(".ts") ? "./pyodide/build-image.ts" : "./pyodide/build-image.js",
  import.meta.url,
);
const BUILD_MS = 300_000;

let building: Promise<string> | undefined;

/** Returns the file with the memory of a Python that has just started, made once per version on a machine. Rejects with SANDBOX_FAILED. */
export async function bootImageFile(): Promise<string> {
  building ??= find().catch((error: unknown) => {
    building = undefined;
    throw error;
  });
  const path = await building;
  if (existsSync(path)) return path;
  building = undefined;
  return bootImageFile();
}

async function find(): Promise<string> {
  const folder = writableFolder();
  const path = join(folder, `pyodide-${fingerprint()}.image`);
  if (!existsSync(path)) {
    await build(path);
    removeUnusedImages(folder);
  }
  keepInUse(path);
  return path;
}

async function build(path: string): Promise<void> {
  const conditions = builder.pathname.endsWith(".ts") ? ["--conditions=mrlm-source"] : [];
  try {
    await promisify(execFile)(process.execPath, ["--no-warnings", ...conditions, fileURLToPath(builder), path], {
      env: {},
      timeout: BUILD_MS,
    });
  } catch (error) {
    throw new MrlmError(
      "SANDBOX_FAILED",
      `Pyodide could not be started: ${(error as { stderr?: string }).stderr?.trim() || String(error)}`,
      { cause: error },
    );
  }
}

/** Hashes all inputs of the image. */
function fingerprint(): string {
  const hash = createHash("sha256").update(readFileSync(join(pyodideFolder(), "package.json")));
  const python = join(pythonFolder(), "mrlm_sandbox");
  for (const name of readdirSync(python)
    .filter((file) => file.endsWith(".py"))
    .sort())
    hash.update(name).update(readFileSync(join(python, name)));
  return hash.digest("hex").slice(0, 16);
}

function writableFolder(): string {
  const wanted = [
    join(cacheDirectory(), "sandbox-python"),
    join(tmpdir(), `mrlm-${process.getuid?.() ?? ""}`, "sandbox-python"),
  ];
  for (const folder of wanted) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return folder;
    } catch {
      // Try the next folder.
    }
  }
  throw new MrlmError(
    "SANDBOX_FAILED",
    `Neither ${wanted.join(" nor ")} can be made to keep the start of Pyodide in.`,
    { hint: "Set MRLM_CACHE to a directory that you can write to." },
  );
}

const HOUR_MS = 3_600_000;
/** Age of an unused image, much longer than the interval between two marks of a process. */
const UNUSED_MS = 24 * HOUR_MS;
/** Names of images and of partial files of interrupted writes. */
const NAME = /^pyodide-[0-9a-f]+\.image(\.\d+\.part)?$/;

let marking: NodeJS.Timeout | undefined;

/** Marks an image as in use until this process exits: its modification time is that of its last use. */
export function keepInUse(path: string): void {
  clearInterval(marking);
  marking = setInterval(() => mark(path), HOUR_MS).unref();
  mark(path);
}

/** Removes the images of other versions that no process has used for a day. */
export function removeUnusedImages(folder: string, now = Date.now()): void {
  for (const name of readdirSync(folder).filter((each) => NAME.test(each))) {
    const path = join(folder, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - changed > UNUSED_MS) rmSync(path, { force: true });
  }
}

function mark(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Owned by another user, or already removed. The next process that needs it makes it again.
  }
}
