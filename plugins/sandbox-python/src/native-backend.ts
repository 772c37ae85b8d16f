import { detectJail, PooledSandbox, type SandboxBackend, seccompFilter } from "@mrlm/sandbox";
import { MrlmError } from "@mrlm/spec";
import { findPython, type NativePython } from "./native/find-python.ts";
import { pythonFolder } from "./pyodide/python-folder.ts";

/** Size of a submission's /tmp. */
const TMP_BYTES = 32 * 1024 * 1024;
/** Permissions that the zygote has in its jail and a runner lacks. */
const JAIL = { forks: true, namespaces: true };
/** Folders that every jail mounts. */
const SYSTEM = /^\/(usr\/)?(local\/)?lib(32|64)?(\/|$)/;

const tried = new Map<string | undefined, Promise<string | undefined>>();

/** Returns why the kind `native` is unavailable on this machine; `undefined` if it works. Tries each Python once per process. */
export function nativeMissing(chosen?: string): Promise<string | undefined> {
  const known = tried.get(chosen) ?? whyMissing(chosen);
  tried.set(chosen, known);
  return known;
}

async function whyMissing(chosen: string | undefined): Promise<string | undefined> {
  const { isJailed } = await detectJail();
  if (!isJailed) return "CPython runs in a jail only, and bubblewrap, which makes it, is missing or does not work here";
  if (seccompFilter({ forks: false, namespaces: false }) === undefined)
    return `there is no filter of system calls for ${process.arch}`;
  const python = await findPython(chosen);
  if (typeof python === "string") return python;
  // Some machines allow namespaces to bubblewrap, but not to programs inside it.
  const trial = new PooledSandbox({ backend: nativeBackend({ python: chosen }), pool: { children: 1 } });
  try {
    await trial.warm();
    return undefined;
  } catch (error) {
    return `CPython does not start in its jail, where it must be able to make namespaces: ${(error as Error).message}`;
  } finally {
    await trial.close();
  }
}

/** Returns the backend of the kind `native`: the CPython of this machine, in a jail. */
export function nativeBackend({ python: chosen }: { readonly python?: string | undefined } = {}): SandboxBackend {
  let found: Promise<NativePython | string> | undefined;
  return {
    kind: "native",
    language: "python",
    layers: ["namespaces"],
    hasSnapshots: false,
    async program({ isJailed, isForSession }) {
      if (!isJailed)
        throw new MrlmError(
          "SANDBOX_FAILED",
          "CPython runs submissions in a jail only, and there is none on this machine.",
          { hint: "Install bubblewrap, or use the kind `pyodide`." },
        );
      const python = await (found ??= findPython(chosen));
      if (typeof python === "string")
        throw new MrlmError("SANDBOX_FAILED", `No CPython serves: ${python}.`, {
          hint: "Install Python 3.10 or newer, name one with the option `python`, or use the kind `pyodide`.",
        });
      const source = pythonFolder();
      const { layers } = await detectJail();
      const behind = layers.includes("seccomp") ? { behind: JAIL } : {};
      const filter =
        seccompFilter({ forks: false, namespaces: false, sharedMemory: false, ...behind }) ?? Buffer.alloc(0);
      const options = {
        tmpBytes: TMP_BYTES,
        seccomp: filter.toString("base64"),
        hidden: python.packages,
        isForSession,
      };
      return {
        command: python.executable,
        // -s, -S, -P and an empty environment: only the standard library can be imported. (-I would also ignore the seed of hashes.)
        args: ["-s", "-S", "-B", "-X", "utf8", "/app/python/main.py", JSON.stringify(options)],
        env: { PYTHONHASHSEED: "0", HOME: "/tmp", LANG: "C.UTF-8", LD_BIND_NOW: "1" },
        mounts: [
          ...[python.executable, ...python.folders]
            .filter((path) => !SYSTEM.test(path))
            .map((path) => ({ source: path, target: path })),
          { source, target: "/app/python" },
        ],
        ...JAIL,
        limitsCpu: true,
      };
    },
  };
}
