import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MrlmError } from "@mrlm/spec";

/** Writes files into a directory that appears only when it is complete. */
export async function writeDirectory(
  directory: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  await mkdir(dirname(directory), { recursive: true });
  const beside = await mkdtemp(`${directory}.`);
  for (const [name, content] of Object.entries(files)) {
    const path = join(beside, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  await rm(directory, { recursive: true, force: true });
  await rename(beside, directory);
}

/** Concatenates float64 arrays as bytes. */
export function packArrays(arrays: readonly Float64Array[]): Uint8Array {
  return Buffer.concat(
    arrays.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
}

/** Reverts `packArrays`: overwrites arrays of the same lengths. */
export function unpackArrays(bytes: Uint8Array, arrays: readonly Float64Array[]): void {
  const numbers = new Float64Array(bytes.slice().buffer);
  let offset = 0;
  for (const array of arrays) {
    array.set(numbers.subarray(offset, offset + array.length));
    offset += array.length;
  }
}

export async function readText(directory: string, name: string): Promise<string> {
  try {
    return await readFile(join(directory, name), "utf8");
  } catch (error) {
    throw new MrlmError("CHECKPOINT_INCOMPLETE", `${directory} has no readable ${name}.`, { cause: error });
  }
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
