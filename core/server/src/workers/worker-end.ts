/** Session at work when a process ended, as far as the process could record it. */
export interface LastWork {
  /** Key of the session. */
  readonly session: string;
  readonly phase: string;
  readonly environment?: string;
}

/** End of a worker's process. */
export interface WorkerEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Reason for which the server process ended it, or the one that it recorded itself: `it used 600 MiB of 512 MiB`. */
  readonly reason?: string;
  /** Absent if no code of a session was running, or none was recorded. */
  readonly work?: LastWork;
}
