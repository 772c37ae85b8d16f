import { type ErrorCode, MrlmError } from "@mrlm/spec";

interface Kind {
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  readonly what: string;
  readonly hint: string;
  /** Whether no index could be reached. */
  readonly unreachable?: boolean;
}

/** Known failures of pip, the most specific first. */
const KINDS: readonly Kind[] = [
  {
    pattern: /No space left on device|\[Errno 28\]|not enough space on the disk/i,
    code: "SETUP_FAILED",
    what: "the disk is full",
    hint: "Free some space, or set MRLM_CACHE to a directory on another disk (and PIP_CACHE_DIR, TMPDIR where they share it).",
  },
  {
    pattern: /DO NOT MATCH THE HASHES/,
    code: "SETUP_DOWNLOAD_FAILED",
    what: "a downloaded file is not the one that the lock file names",
    hint: "Clear pip's cache (`pip cache purge`) and try again; if it stays, the package index or a proxy serves altered files.",
  },
  {
    pattern: /CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerificationError|TLS CA certificate/i,
    code: "SETUP_DOWNLOAD_FAILED",
    what: "the package index's certificate is not trusted",
    hint: "Behind a proxy that inspects TLS, set PIP_CERT to its certificate bundle.",
    unreachable: true,
  },
  {
    pattern: /ProxyError|Proxy Authentication Required|Cannot connect to proxy/i,
    code: "SETUP_DOWNLOAD_FAILED",
    what: "the proxy refused or could not be reached",
    hint: "Check HTTPS_PROXY and `pip config list`.",
    unreachable: true,
  },
  {
    pattern:
      /NameResolutionError|NewConnectionError|ConnectTimeout|ReadTimeout|ConnectionResetError|connection broken|Max retries exceeded/i,
    code: "SETUP_DOWNLOAD_FAILED",
    what: "the package index could not be reached",
    hint: "Check the network. Behind a proxy set HTTPS_PROXY; for a mirror set PIP_INDEX_URL (and MRLM_TORCH_INDEX for torch). What was downloaded is kept by pip.",
    unreachable: true,
  },
  {
    pattern: /No matching distribution found/,
    code: "SETUP_DOWNLOAD_FAILED",
    what: "the package index has no wheel for this Python and platform",
    hint: "Try another Python (MRLM_PYTHON), or an index that has one (PIP_INDEX_URL; MRLM_TORCH_INDEX for torch).",
  },
];

/**
 * Creates the error for a failed pip.
 *
 * @param step - name of the part that was being installed.
 * @param output - complete output of pip.
 * @param logFile - path of the file with this output.
 */
export function pipFailure(step: string, output: string, logFile?: string): MrlmError {
  const kind = KINDS.find(({ pattern }) => pattern.test(output));
  const quoted = decisiveLines(output, kind?.pattern)
    .map((line) => `\n  ${line}`)
    .join("");
  const message = `Installing ${step} failed: ${kind?.what ?? "pip ended with an error"}.${quoted}${logFile === undefined ? "" : `\n  Log: ${logFile}`}`;
  return new MrlmError(kind?.code ?? "SETUP_FAILED", message, {
    hint: kind?.hint ?? "Read the quoted lines and the log; the next set-up starts again where it stopped.",
  });
}

/** Whether pip's output shows that no index could be reached, in contrast to an index without the package. */
export function isUnreachable(output: string): boolean {
  return KINDS.some(({ pattern, unreachable }) => unreachable === true && pattern.test(output));
}

function decisiveLines(output: string, pattern: RegExp | undefined): string[] {
  const lines = output
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("Progress "));
  const first = pattern && lines.find((line) => pattern.test(line));
  const errors = lines.filter((line) => line.startsWith("ERROR:"));
  const chosen =
    first === undefined && errors.length === 0 ? lines.slice(-3) : [...(first === undefined ? [] : [first]), ...errors];
  return [...new Set(chosen)].slice(0, 4).map((line) => (line.length > 300 ? `${line.slice(0, 300)}...` : line));
}
