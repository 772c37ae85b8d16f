import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a program that imitates Python: it prints its version and reports that all packages are installed. */
export function fakePython(directory: string, version: string): string {
  const path = join(directory, `python${version}`);
  const answer = {
    executable: path,
    version: `${version}.1`,
    implementation: "cpython",
    wide: true,
    free_threaded: false,
    missing: [],
    versions: { python: version },
    cuda: false,
  };
  writeFileSync(path, `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`);
  chmodSync(path, 0o755);
  return path;
}
