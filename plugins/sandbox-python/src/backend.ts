import { limitsOf } from "@mrlm/kit/options";
import type { PooledSandboxOptions, SandboxBackend } from "@mrlm/sandbox";
import { MrlmError } from "@mrlm/spec";
import { nativeBackend, nativeMissing } from "./native-backend.ts";
import type { PythonOptions } from "./options.ts";
import { pyodideBackend } from "./pyodide-backend.ts";

/** Runs after which a child is replaced. Both kinds renew their interpreters themselves, but their trusted half may accumulate memory. */
const MAX_RUNS = 20_000;
/** Growth after which a child is replaced, above that of two processes with compiled code. */
const MAX_GROWTH = 256 * 1024 * 1024;

/** Chooses the backend. Rejects with SANDBOX_FAILED if the kind `native` is required and unavailable. */
export async function pythonBackend({
  kind,
  python,
  children,
  queue,
  sessions,
  session_queue,
  session_wait_ms,
  limits,
}: PythonOptions): Promise<PooledSandboxOptions> {
  return {
    backend: await chosen(kind, python),
    limits: limitsOf(limits),
    pool: { children, queue, maxRuns: MAX_RUNS, maxGrowthBytes: MAX_GROWTH },
    sessions,
    sessionQueue: session_queue,
    sessionWaitMs: session_wait_ms,
  };
}

async function chosen(kind: PythonOptions["kind"], python: string | undefined): Promise<SandboxBackend> {
  if (kind === "pyodide") return pyodideBackend;
  const missing = await nativeMissing(python);
  if (missing === undefined) return nativeBackend({ python });
  if (kind === "auto") return { ...pyodideBackend, missing: [{ layer: "native", reason: missing }] };
  throw new MrlmError("SANDBOX_FAILED", `The kind \`native\` cannot be had here: ${missing}.`, {
    hint: "Use the kind `pyodide`, which needs no installation; or install bubblewrap and Python 3.10 or newer, and allow namespaces as the sandboxes guide describes.",
  });
}
