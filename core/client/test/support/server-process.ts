import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

const script = new URL("./counting-server.ts", import.meta.url);

/** Environment server in its own process, which can be killed. */
export class ServerProcess {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /** @param workers processes that host its environments; 0: the server itself */
  static async start(port = 0, workers = 0): Promise<ServerProcess> {
    const child = fork(script, [String(port), String(workers)], {
      execArgv: ["--conditions=mrlm-source"],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const [answer] = (await once(child, "message")) as [number];
    return new ServerProcess(child, answer);
  }

  /** Kills the process without warning, as a failure of the machine does. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}
