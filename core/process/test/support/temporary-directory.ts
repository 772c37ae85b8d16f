import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "@jest/globals";

/** Returns a directory that is removed after the tests of the file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-process-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}
