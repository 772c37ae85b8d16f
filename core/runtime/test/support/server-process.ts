import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

const children = new Set<ChildProcess>();

/** Kills the servers that a test has left. */
export function killServers(): void {
  for (const child of children) child.kill("SIGKILL");
}

/** Starts a server from its script, which sends its port, on a port; 0: any. */
export async function startServer(
  script: URL,
  port = 0,
  ...rest: readonly string[]
): Promise<{ readonly port: number; kill(): Promise<void> }> {
  const child = fork(script, [String(port), ...rest], {
    execArgv: ["--conditions=mrlm-source"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.add(child);
  const [bound] = (await once(child, "message")) as [number];
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "exit");
    children.delete(child);
  };
  return { port: bound, kill };
}
