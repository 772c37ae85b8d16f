import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** Installed interpreter. */
export interface NativePython {
  /** Path of the program, with links, version managers and virtual environments resolved. */
  readonly executable: string;
  readonly version: string;
  /** Folders with the standard library and the shared libraries that it loads. */
  readonly folders: readonly string[];
  /** Subfolders of these that contain installed packages. */
  readonly packages: readonly string[];
}

const OLDEST = [3, 10] as const;
const NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python"];
const PROBE_MS = 20_000;

const PROBE = `
import json, os, sys, sysconfig
base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix, "installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
paths = {name: sysconfig.get_path(name, vars=base) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
import ctypes, resource
print(json.dumps({
    "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "version": list(sys.version_info[:3]), "implementation": sys.implementation.name,
    "folders": [os.path.realpath(p) for p in {paths["stdlib"], paths["platstdlib"], os.path.join(sys.base_exec_prefix, "lib")}],
    "packages": [paths["purelib"], paths["platlib"]], "fds": hasattr(os, "pidfd_open")}))
`;

interface Answer {
  readonly executable: string;
  readonly version: readonly number[];
  readonly implementation: string;
  readonly folders: readonly string[];
  readonly packages: readonly string[];
  readonly fds: boolean;
}

/** Returns the first suitable CPython, or why there is none. `chosen`: a path or a name, the only one to try. */
export async function findPython(chosen?: string): Promise<NativePython | string> {
  const candidates = chosen === undefined ? NAMES.flatMap(onPath) : chosen.includes("/") ? [chosen] : onPath(chosen);
  const complaints: string[] = [];
  for (const command of candidates) {
    const found = await probe(command);
    if (typeof found !== "string") return found;
    complaints.push(`${command} ${found}`);
  }
  return complaints.length > 0 ? complaints.join("; ") : `no command ${chosen ?? "python3"} is on the PATH`;
}

async function probe(command: string): Promise<NativePython | string> {
  let answer: Answer;
  try {
    const { stdout } = await promisify(execFile)(command, ["-I", "-c", PROBE], { timeout: PROBE_MS });
    answer = JSON.parse(stdout) as Answer;
  } catch (error) {
    return `does not run (${(error as Error).message.split("\n")[0]})`;
  }
  const { executable, implementation, folders, packages } = answer;
  const [major = 0, minor = 0] = answer.version;
  const version = answer.version.join(".");
  if (implementation !== "cpython") return `is ${implementation}, not CPython`;
  if (major !== OLDEST[0] || minor < OLDEST[1]) return `is Python ${version}; ${OLDEST.join(".")} or newer is needed`;
  if (!answer.fds) return `is Python ${version} for a system without pidfd_open`;
  return { executable, version, folders, packages };
}

function onPath(name: string): string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(Boolean);
  return folders
    .map((folder) => join(folder, name))
    .filter((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
