import { pythonDirectory } from "../package-directory.ts";

/** Variables of the user's that would change which code the engine runs. */
const REMOVED = [
  "PYTHONHOME",
  "PYTHONSTARTUP",
  "PYTHONINSPECT",
  "PYTHONDONTWRITEBYTECODE",
  "PYTHONOPTIMIZE",
  "VIRTUAL_ENV",
  "__PYVENV_LAUNCHER__",
];

/**
 * The engine's environment variables: the user's, without what would let other Python code in, and with what makes two runs alike.
 *
 * @param threads - of torch's intra-op pool; left out, torch takes one for each core.
 */
export function engineEnvironment(
  threads?: number,
  env: NodeJS.ProcessEnv = process.env,
  pythonPath: string = pythonDirectory(),
): NodeJS.ProcessEnv {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !REMOVED.includes(name)));
  return {
    ...kept,
    PYTHONPATH: pythonPath,
    PYTHONNOUSERSITE: "1",
    // Python 3.11 and later then leaves the working directory out of the module path.
    PYTHONSAFEPATH: "1",
    PYTHONHASHSEED: "0",
    PYTHONUNBUFFERED: "1",
    PYTHONUTF8: "1",
    // A crash in native code prints the Python stack, which ends up in the log.
    PYTHONFAULTHANDLER: "1",
    // The engine forks nothing, and the tokenizers library would warn that it might.
    TOKENIZERS_PARALLELISM: "false",
    // Models come from directories; nothing is ever fetched behind the user's back.
    HF_HUB_OFFLINE: "1",
    HF_HUB_DISABLE_TELEMETRY: "1",
    // The heap in huge pages, which glibc must know before the program begins: 2 to 3 % less for a training step on CPU.
    GLIBC_TUNABLES: kept["GLIBC_TUNABLES"] ?? "glibc.malloc.hugetlb=1",
    ...(threads !== undefined && { OMP_NUM_THREADS: String(threads), MKL_NUM_THREADS: String(threads) }),
  };
}
