import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "@jest/globals";

/** Creates a directory that is removed after the tests of the file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-e2e-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}
