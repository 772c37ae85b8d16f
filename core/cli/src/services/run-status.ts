import type { EnginePlaces, RunDirectory } from "@mrlm/runtime";

/** Training process of a run, as other processes find it. */
export interface RunStatus {
  /** Places of its engines, and the time at which it announced them, in milliseconds since 1970. Absent while no process trains the run. */
  readonly training?: EnginePlaces & { readonly since: number };
  /** Whether the run has finished, and nothing trains it. */
  readonly hasEnded: boolean;
  /** Whether a process holds the lock of the run. It trains, or will do so. */
  readonly isLocked: boolean;
}

/** Reads the state of a run. Writes nothing. */
export function statusOfRun(run: RunDirectory): RunStatus {
  const training = run.readEngine();
  const { isLocked } = run;
  // The training process makes the store after it has locked the run.
  if (training !== undefined && isLocked && run.hasEpisodes) return { training, hasEnded: false, isLocked };
  return { hasEnded: !isLocked && run.readRecord()["status"] === "finished", isLocked };
}
