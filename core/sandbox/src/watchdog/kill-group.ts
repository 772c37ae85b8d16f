/** Sends SIGKILL to a process and to the group that it leads. The end of process 1 of a PID namespace ends all others in it. */
export function killGroup(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // The process leads no group, or it has already exited.
    }
  }
}
