import { startedProcesses } from "./started-processes.ts";

/** Times that processes are listed: each could have started another meanwhile. */
const ROUNDS = 5;

/**
 * Kills a process that runs code of plugins, and what it started, which can have left its group.
 * @param pid process that leads a group of its own, except on Windows
 * @param temporary its folder of temporary files
 */
export function endProcesses(pid: number, temporary: string): void {
  const group = process.platform === "win32" ? pid : -pid;
  // It must start nothing meanwhile.
  if (pid !== process.pid && process.platform !== "win32") send(group, "SIGSTOP");
  for (let round = 0; round < ROUNDS; round++) {
    const started = startedProcesses(pid, temporary);
    if (started.length === 0) break;
    for (const each of started) send(each.pid, "SIGKILL");
  }
  send(group, "SIGKILL");
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // It has ended.
  }
}
