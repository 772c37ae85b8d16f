/** SIGKILL to a process and, where it leads one, its group. The first process of a PID namespace takes all others of it along. */
export function killGroup(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // No leader of a group, or gone already.
    }
  }
}
