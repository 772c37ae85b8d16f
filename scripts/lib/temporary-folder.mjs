import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const PREFIX = "mrlm-test-";

/**
 * Gives all tests one folder for temporary files, which is removed at the exit of this process: so none remains of a test that a failure or a kill ended. Jest
 * calls it for a run of its own.
 */
export default function useTemporaryFolder() {
  if (basename(tmpdir()).startsWith(PREFIX)) return;
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  process.env.TMPDIR = folder;
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
}
