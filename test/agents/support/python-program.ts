import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../e2e/support/mrlm.ts";

const SCRIPT = "import sys, sysconfig; print(sys.base_prefix); print(sysconfig.get_path('purelib'))";

/**
 * Returns the folders that a workspace shows for a program in Python, and its command. The interpreter of a virtual environment may be outside of the system folders, with a library of
 * its own.
 * @param folder of the program, in the repository
 * @param program file, with its arguments
 */
export function pythonProgram(
  interpreter: string,
  folder: string,
  program: string,
): { readonly folders: Readonly<Record<string, string>>; readonly command: string } {
  const [python = "", packages = ""] = execFileSync(interpreter, ["-c", SCRIPT], { encoding: "utf8" }).split("\n");
  return {
    folders: { "/python": python, "/packages": packages, "/program": join(ROOT, folder) },
    command: `LD_LIBRARY_PATH=/python/lib PYTHONPATH=/packages exec /python/bin/python3 /program/${program}`,
  };
}
