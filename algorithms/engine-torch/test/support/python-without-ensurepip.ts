import { copyFileSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Python, runProcess } from "@mrlm/process/python";

/**
 * Lays out an installation of a Python of this machine that has no ensurepip and no pip, as distributions ship it: a copy of
 * the executable beside links to its standard library.
 */
export async function pythonWithoutEnsurepip(python: Python, prefix: string): Promise<Python> {
  const { stdout } = await runProcess(python.executable, [
    "-I",
    "-c",
    "import os, sys; print(sys._base_executable); print(os.path.dirname(os.__file__))",
  ]);
  const [executable = "", library = ""] = stdout.trim().split("\n");
  const name = `python${python.version.split(".").slice(0, 2).join(".")}`;
  const target = join(prefix, "lib", name);
  mkdirSync(join(prefix, "bin"), { recursive: true });
  mkdirSync(target, { recursive: true });
  copyFileSync(realpathSync(executable), join(prefix, "bin", name));
  for (const entry of readdirSync(library)) {
    if (!["ensurepip", "site-packages", "dist-packages"].includes(entry))
      symlinkSync(join(library, entry), join(target, entry));
  }
  return { executable: join(prefix, "bin", name), version: python.version };
}
