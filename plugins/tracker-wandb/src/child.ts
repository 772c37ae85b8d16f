import { fileURLToPath } from "node:url";
import { type Child, startChild } from "@mrlm/process";

const SCRIPT = fileURLToPath(new URL("../python/track.py", import.meta.url));
/** Environment variables in addition to WANDB_*: paths of programs, libraries, home, temporary files, proxies and certificates. W&B receives no other secret. */
const PASSED =
  /^(WANDB_.*|PATH|PYTHON(PATH|HOME|UTF8)|(DY)?LD_LIBRARY_PATH|HOME|USER|LOGNAME|LANG|LC_.*|TZ|TMPDIR|TE?MP|XDG_.*|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_.*|REQUESTS_CA_BUNDLE|NETRC|SYSTEMROOT|USERPROFILE|USERNAME|(LOCAL)?APPDATA|PATHEXT)$/i;
const KEPT_STDERR = 4000;

/** Logged rows are sent after the training process was killed, too. */
const ORPHAN_GRACE = { seconds: 60 };

/** Python process that runs track.py. */
export interface Tracker {
  readonly child: Child;
  /** Resolves when the process has ended: `undefined` after success, else a description of the fault. */
  readonly fault: Promise<string | undefined>;
}

/** Returns the Python with the SDK. */
export const pythonOf = (chosen: string | undefined): string =>
  chosen ?? process.env["MRLM_WANDB_PYTHON"] ?? (process.platform === "win32" ? "python" : "python3");

/** Starts track.py. Ctrl-C reaches only the training process, which sends `finish`. */
export function startTracker(python: string, args: readonly string[]): Tracker {
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED.test(name))),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const child = startChild({
    command: python,
    args: [SCRIPT, ...args],
    env,
    hasInput: true,
    orphanGrace: ORPHAN_GRACE,
  });
  let [stdout, stderr] = ["", ""];
  child.process.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.process.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => (stderr = (stderr + text).slice(-KEPT_STDERR)));
  const fault = child.ended.then(({ code, signal, error }) => {
    if (error !== undefined) return `${python} does not start (${error.message})`;
    if (code === 0) return undefined;
    return answered(stdout) ?? `${python} ended (${signal ?? `exit code ${code}`})${lastLine(stderr)}`;
  });
  return { child, fault };
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
