import { MrlmError } from "@mrlm/spec";
import type { WorkerEnd } from "./worker-end.ts";

/** Consequences of the end of a worker for its sessions. */
export interface Death {
  /** Returns the error of a session's calls. */
  errorOf(key: string): MrlmError;
}

/** Returns a short reason of an end: `by SIGKILL`, `with exit code 1 (uncaughtException: ...)`. */
export function howItEnded({ exitCode, signal, reason }: WorkerEnd): string {
  const how = signal === null ? `with exit code ${exitCode}` : `by ${signal}`;
  return reason === undefined ? how : `${how} (${reason})`;
}

/** Makes the error of a session that ended its worker. A client does not repeat it: the episode would end the next worker too. */
export function sessionEndedWorker(
  session: { readonly environment: string; readonly provider: string },
  end: WorkerEnd,
): MrlmError {
  const phase = end.work === undefined ? "" : ` in its ${end.work.phase} phase`;
  return new MrlmError(
    "ENVIRONMENT_FAILED",
    `Environment ${session.environment}${session.provider} ended its worker process ${howItEnded(end)}${phase}.`,
    { isRetryable: false, hint: "The lines that the worker printed before its end are in the output of the server." },
  );
}

/** Makes the error of a session that was at work both times when a worker ended for a reason that could not be attributed. */
export function sessionLostTwoWorkers(
  session: { readonly environment: string; readonly provider: string },
  end: WorkerEnd,
): MrlmError {
  return new MrlmError(
    "ENVIRONMENT_FAILED",
    `This episode of environment ${session.environment}${session.provider} lost two worker processes, the second ended ${howItEnded(end)}. Neither end could be attributed to one session; it is not restored again.`,
    {
      isRetryable: false,
      hint: "The lines that the workers printed before their end are in the output of the server.",
    },
  );
}

/** Makes the error of a session whose worker another session ended. A client restores it. */
export function workerLost(end: WorkerEnd): MrlmError {
  return new MrlmError(
    "SESSION_NOT_FOUND",
    `The session's worker process ended ${howItEnded(end)}; another session or the system ended it.`,
  );
}

/** Returns the error of a worker that could not be started: its own, or one that names the end of its process. */
export function notStarted({ name }: { readonly name: string }, error: unknown): Error {
  if (MrlmError.isInstance(error)) return error;
  return new MrlmError("SERVER_UNAVAILABLE", `${name} could not be started: ${(error as Error).message}.`, {
    isRetryable: false,
    hint: "Its output is above. An import that never returns, or that ends the process, is in one of the plugins that are served.",
  });
}
