import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MAKE_WHEEL = `
import sys, zipfile
path, name = sys.argv[1:]
info = f"{name}-1.0.dist-info"
with zipfile.ZipFile(path, "w") as wheel:
    wheel.writestr(f"{name}.py", "value = 1\\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", f"{name}.py,,\\n{info}/METADATA,,\\n{info}/WHEEL,,\\n{info}/RECORD,,\\n")
`;
import { runProcess } from "@mrlm/process/python";

/** Makes a wheel of version 1.0 with one module, and answers its line for a lock file. */
export async function makeWheel(python: string, directory: string, name: string): Promise<string> {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${name}-1.0-py3-none-any.whl`);
  const { code, stderr } = await runProcess(python, ["-I", "-c", MAKE_WHEEL, path, name]);
  if (code !== 0) throw new Error(stderr);
  return `${name}==1.0 --hash=sha256:${createHash("sha256").update(readFileSync(path)).digest("hex")}\n`;
}

/** Writes the lock files of all parts, each with the lines given or none. */
export function writeLocks(directory: string, lines: Readonly<Record<string, string>>): void {
  mkdirSync(directory, { recursive: true });
  for (const part of ["torch", "base", "lora", "dev"])
    writeFileSync(join(directory, `${part}.lock`), lines[part] ?? "# nothing\n");
}
