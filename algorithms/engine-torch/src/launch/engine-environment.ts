import { pythonDirectory } from "../package-directory.ts";

/** Variables of the user that would change which code the engine runs. */
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
 * Returns the environment variables of the engine: those of the user, without the ones that load other Python code, and with those that make two runs equal.
 *
 * @param threads - size of torch's intra-op pool. Default: one thread for each core.
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
    // With it Python 3.11 and later leaves the working directory out of the module path.
    PYTHONSAFEPATH: "1",
    PYTHONHASHSEED: "0",
    PYTHONUNBUFFERED: "1",
    PYTHONUTF8: "1",
    // A crash in native code then prints the Python stack to the log.
    PYTHONFAULTHANDLER: "1",
    // The engine does not fork. Without this the tokenizers library warns about forks.
    TOKENIZERS_PARALLELISM: "false",
    // Models are read from directories. The engine never downloads a model.
    HF_HUB_OFFLINE: "1",
    HF_HUB_DISABLE_TELEMETRY: "1",
    // The heap in huge pages makes a training step on CPU 2 to 3 % faster. glibc reads this before the program starts.
    GLIBC_TUNABLES: kept["GLIBC_TUNABLES"] ?? "glibc.malloc.hugetlb=1",
    ...(threads !== undefined && { OMP_NUM_THREADS: String(threads), MKL_NUM_THREADS: String(threads) }),
  };
}
