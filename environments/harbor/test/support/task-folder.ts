import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Files of a task that is solved by `echo right > answer`. */
const TASK: Readonly<Record<string, string>> = {
  "instruction.md": "Write right to the file answer.\n",
  "task.toml": 'schema_version = "1.4"\n',
  "environment/Dockerfile": "FROM debian:12\nWORKDIR /app\n",
  "tests/test.sh":
    '#!/bin/sh\n[ "$(cat answer)" = right ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n',
  "solution/solve.sh": "#!/bin/sh\necho right > answer\n",
};

/** Writes a task with these files in place of its own, or beside them; `undefined` leaves one out. Returns its folder. */
export function taskFolder(files: Readonly<Record<string, string | undefined>> = {}): {
  readonly folder: string;
  readonly remove: () => void;
} {
  const folder = mkdtempSync(join(tmpdir(), "harbor-"));
  for (const [path, text] of Object.entries({ ...TASK, ...files })) {
    if (text === undefined) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    if (text.startsWith("#!")) chmodSync(join(folder, path), 0o755);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
