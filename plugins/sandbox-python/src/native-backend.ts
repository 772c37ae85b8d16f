import { detectJail, type SandboxBackend, seccompFilter } from "@mrlm/sandbox";
import { MrlmError } from "@mrlm/spec";
import { findPython, type NativePython } from "./native/find-python.ts";
import { pythonFolder } from "./pyodide/python-folder.ts";

/** Of a submission's /tmp. */
const TMP_BYTES = 32 * 1024 * 1024;
/** What the zygote may do in its jail, and a player may not. */
const JAIL = { forks: true, namespaces: true };
/** What is mounted in every jail anyway. */
const SYSTEM = /^\/(usr\/)?(local\/)?lib(32|64)?(\/|$)/;

/** Why the kind `native` cannot be had on this machine; `undefined` when it can. */
export async function nativeMissing(chosen?: string): Promise<string | undefined> {
  const jail = await detectJail();
  if (!jail.isJailed) return jail.missing.map(({ reason }) => reason)[0] ?? "there is no jail";
  if (seccompFilter({ forks: false, namespaces: false }) === undefined) return `there is no filter of system calls for ${process.arch}`;
  const python = await findPython(chosen);
  return typeof python === "string" ? python : undefined;
}

/** Children of the kind `native`: the CPython of this machine, in a jail. */
export function nativeBackend({ python: chosen }: { readonly python?: string | undefined } = {}): SandboxBackend {
  let found: Promise<NativePython | string> | undefined;
  return {
    kind: "native",
    language: "python",
    layers: ["namespaces"],
    hasSnapshots: false,
    async program({ isJailed, isForSession }) {
      if (!isJailed) throw new MrlmError("SANDBOX_FAILED", "CPython runs submissions in a jail only, and there is none on this machine.", { hint: "Install bubblewrap, or use the kind `pyodide`." });
      const python = await (found ??= findPython(chosen));
      if (typeof python === "string") throw new MrlmError("SANDBOX_FAILED", `No CPython serves: ${python}.`, { hint: "Install Python 3.10 or newer, name one with the option `python`, or use the kind `pyodide`." });
      const source = pythonFolder();
      const { layers } = await detectJail();
      const behind = layers.includes("seccomp") ? { behind: JAIL } : {};
      const filter = seccompFilter({ forks: false, namespaces: false, sharedMemory: false, ...behind }) ?? Buffer.alloc(0);
      const options = { tmpBytes: TMP_BYTES, seccomp: filter.toString("base64"), hidden: python.packages, isForSession };
      return {
        command: python.executable,
        // -s -S -P and an empty environment: nothing but the standard library can be imported. (-I would also forget the seed of hashes.)
        args: ["-s", "-S", "-B", "-X", "utf8", "/app/python/main.py", JSON.stringify(options)],
        env: { PYTHONHASHSEED: "0", HOME: "/tmp", LANG: "C.UTF-8", LD_BIND_NOW: "1" },
        mounts: [
          ...[python.executable, ...python.folders].filter((path) => !SYSTEM.test(path)).map((path) => ({ source: path, target: path })),
          { source, target: "/app/python" },
        ],
        ...JAIL,
      };
    },
  };
}
