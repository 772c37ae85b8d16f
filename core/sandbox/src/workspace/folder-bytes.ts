import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Returns the size of all files below a folder as it occupies a disk. */
export async function folderBytes(folder: string): Promise<number> {
  const { stdout } = await promisify(execFile)("du", ["-skD", "--", folder]);
  return Number(stdout.split("\t", 1)[0]) * 1024;
}
