import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("../python/track.py", import.meta.url));
/** Environment variables in addition to WANDB_*: paths of programs, libraries, home, temporary files, proxies and certificates. W&B receives no other secret. */
const PASSED =
  /^(WANDB_.*|PATH|PYTHON(PATH|HOME|UTF8)|(DY)?LD_LIBRARY_PATH|HOME|USER|LOGNAME|LANG|LC_.*|TZ|TMPDIR|TE?MP|XDG_.*|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_.*|REQUESTS_CA_BUNDLE|NETRC|SYSTEMROOT|USERPROFILE|USERNAME|(LOCAL)?APPDATA|PATHEXT)$/i;
const KEPT_STDERR = 4000;
const PIPES_MS = 2000;

/** Python process that runs track.py. */
export interface Child {
  readonly process: ChildProcess;
  /** Resolves when the process has ended: `undefined` after success, else a description of the fault. */
  readonly fault: Promise<string | undefined>;
}

/** Returns the Python with the SDK. */
export const pythonOf = (chosen: string | undefined): string =>
  chosen ?? process.env["MRLM_WANDB_PYTHON"] ?? (process.platform === "win32" ? "python" : "python3");

/** Starts track.py in its own session, so that Ctrl-C reaches only the training process, which sends `finish`. */
export function startChild(python: string, args: readonly string[]): Child {
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED.test(name))),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const child = spawn(python, [SCRIPT, ...args], {
    env,
    stdio: ["pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const { promise: fault, resolve } = Promise.withResolvers<string | undefined>();
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-KEPT_STDERR)));
  child.stdin.on("error", () => undefined); // The process has ended, and `fault` has the reason.
  child.on("error", (error) => resolve(`${python} does not start (${error.message})`));
  const end = (code: number | null, signal: NodeJS.Signals | null): void =>
    resolve(
      code === 0
        ? undefined
        : (answered(stdout) ?? `${python} ended (${signal ?? `exit code ${code}`})${lastLine(stderr)}`),
    );
  child.on("close", end);
  child.on("exit", (code, signal) => {
    // The service process of W&B may keep the pipes open for some time.
    const held = setTimeout(() => (end(code, signal), child.stdout.destroy(), child.stderr.destroy()), PIPES_MS);
    child.on("close", () => clearTimeout(held));
  });
  return { process: child, fault };
}

/** Kills the process and its child processes. */
export function killChild({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

function answered(stdout: string): string | undefined {
  try {
    return (JSON.parse(stdout) as { error: string }).error;
  } catch {
    return undefined;
  }
}

function lastLine(stderr: string): string {
  const line = stderr.trim().split("\n").at(-1) ?? "";
  return line === "" ? "" : `: ${line}`;
}
