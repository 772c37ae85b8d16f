import { defined, MrlmError } from "@mrlm/spec";
import type { Submission } from "@mrlm/spec/host";
import type { ClientSandbox } from "./client-sandbox.ts";
import type { RunCodeRequest } from "./run-code-request.ts";
import { responseOf, type RunCodeResponse, sandboxError } from "./run-code-response.ts";

/** Bytes of stdout and of stderr, each. */
const OUTPUT_BYTES = 1 << 20;
const MEGABYTE = 1 << 20;

/** Names of languages in the protocol, with the language and the dialect of the sandbox that runs them. */
const LANGUAGES: ReadonlyMap<string, { readonly language: string; readonly dialect?: string }> = new Map([
  ["python", { language: "python" }],
  ["nodejs", { language: "javascript", dialect: "javascript" }],
  ["javascript", { language: "javascript", dialect: "javascript" }],
  ["typescript", { language: "javascript", dialect: "typescript" }],
]);

/** Sandboxes by language. */
export type Sandboxes = Readonly<Record<string, ClientSandbox>>;

/**
 * Runs a program in the sandbox of its language. A language without a sandbox is a SandboxError. Rejects with SANDBOX_FAILED, with RESOURCE_EXHAUSTED
 * when too many programs wait or one waits too long, and with CANCELLED.
 */
export async function runCode(
  sandboxes: Sandboxes,
  request: RunCodeRequest,
  { client, signal }: { readonly client: string; readonly signal: AbortSignal },
): Promise<RunCodeResponse> {
  const known = LANGUAGES.get(request.language);
  const sandbox = known && sandboxes[known.language];
  if (known === undefined || sandbox === undefined)
    return sandboxError(
      `This server runs no ${JSON.stringify(request.language)}. It runs: ${languagesOf(sandboxes).join(", ")}.`,
    );
  const fetchFiles = request.fetch_files ?? [];
  const result = await sandbox.run(
    client,
    {
      code: request.code,
      ...defined({ dialect: known.dialect }),
      stdin: request.stdin ?? "",
      files: filesOf(request),
      ...(fetchFiles.length > 0 && { fetchFiles }),
      limits: limitsOf(request, sandbox),
    },
    signal,
  );
  return responseOf(result, fetchFiles);
}

/** Returns the names of the languages that a client may ask for. */
export function languagesOf(sandboxes: Sandboxes): string[] {
  return [...LANGUAGES].flatMap(([name, { language }]) => (Object.hasOwn(sandboxes, language) ? [name] : []));
}

/** Whether an error may pass, so that a client should send the request again. */
export function isPassing(error: unknown): error is MrlmError {
  return MrlmError.hasCode(error, "RESOURCE_EXHAUSTED", "SANDBOX_FAILED", "SERVER_UNAVAILABLE", "CANCELLED");
}

function filesOf({ files }: RunCodeRequest): NonNullable<Submission["files"]> {
  return Object.fromEntries(
    Object.entries(files ?? {}).flatMap(([path, content]) => (content === null ? [] : [[path, { base64: content }]])),
  );
}

function limitsOf(request: RunCodeRequest, { limits }: ClientSandbox): NonNullable<Submission["limits"]> {
  const timeMs = request.run_timeout * 1_000;
  const memoryMb = request.memory_limit_MB ?? 0;
  return {
    wallMs: timeMs,
    cpuMs: timeMs,
    memoryBytes: memoryMb > 0 ? memoryMb * MEGABYTE : limits.memoryBytes,
    outputBytes: OUTPUT_BYTES,
  };
}
