import { createHmac, randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory } from "@mrlm/kit/service";

const FILE = "test-seed";
const BYTES = 32;

let secret: string | undefined;

/**
 * Returns the seed of the random tests of a task: equal for all attempts, and unknown to submissions.
 * @param chosen secret that the operator sets; by default it is drawn once for each user of a machine and stored in the cache directory
 */
export function testSeed(task: string, chosen?: string): string {
  secret ??= chosen === undefined ? kept(cacheDirectory()) : undefined;
  return createHmac("sha256", chosen ?? (secret as string))
    .update(task)
    .digest("hex");
}

/** Returns the secret in a folder, or creates it. If the folder cannot be written, the secret is valid for this process. */
export function kept(folder: string): string {
  const path = join(folder, FILE);
  const drawn = randomBytes(BYTES).toString("hex");
  const part = `${path}.${process.pid}.part`;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(part, drawn, { mode: 0o600 });
    try {
      // If several processes start at the same time, one of them creates the file.
      linkSync(part, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(part, { force: true });
    }
    const found = readFileSync(path, "utf8");
    return found.length === 2 * BYTES ? found : drawn;
  } catch {
    return drawn;
  }
}
