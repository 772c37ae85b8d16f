import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync } from "node:fs";
import { mkdir, realpath, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { MrlmError } from "@mrlm/kit";
import { cacheDirectory } from "@mrlm/kit/service";

/**
 * Returns the root folder of an image. A tarball is unpacked once into the user's cache, without device files and with this user as the owner.
 * @param path a root folder or a tarball
 */
export async function imageFolder(name: string, path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined)
    throw new MrlmError("OPTIONS_INVALID", `The image ${name} is not there: ${path} does not exist.`, {
      hint: "Name a root folder or a tarball of one, such as `docker export CONTAINER > NAME.tar` writes.",
    });
  const folder = found.isDirectory() ? await realpath(path) : await unpacked(name, path, found);
  if (["bin/sh", "usr/bin/sh"].some((shell) => lstatSync(join(folder, shell), { throwIfNoEntry: false }) !== undefined))
    return folder;
  throw new MrlmError("OPTIONS_INVALID", `The image ${name} has no /bin/sh: ${path} is not a root file system.`, {
    hint: "Name the folder that has bin, etc and usr, or a tarball of it. `docker save` writes layers; use `docker export`.",
  });
}

async function unpacked(
  name: string,
  path: string,
  { size, mtimeMs }: { readonly size: number; readonly mtimeMs: number },
): Promise<string> {
  const key = createHash("sha256")
    .update(`${await realpath(path)}\n${size}\n${mtimeMs}`)
    .digest("hex");
  const folder = join(cacheDirectory(), "images", key);
  if (existsSync(folder)) return folder;
  const writing = `${folder}.${process.pid}`;
  await rm(writing, { recursive: true, force: true });
  await mkdir(writing, { recursive: true });
  try {
    const options = ["--no-same-owner", "--exclude=dev/*", "--exclude=./dev/*", "--delay-directory-restore"];
    await promisify(execFile)("tar", ["--extract", "--file", path, "--directory", writing, ...options]);
    // Another process may have unpacked it meanwhile.
    await rename(writing, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
    return folder;
  } catch (cause) {
    throw new MrlmError("OPTIONS_INVALID", `The image ${name} cannot be unpacked: ${(cause as Error).message}`, {
      hint: "Name a tarball of a root file system, such as `docker export CONTAINER > NAME.tar` writes.",
      cause,
    });
  } finally {
    await rm(writing, { recursive: true, force: true });
  }
}
