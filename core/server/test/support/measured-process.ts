import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { EnvironmentServer } from "../../src/index.ts";
import type { ServeEnvironmentsOptions } from "../../src/serve-environments.ts";

const script = new URL("./measured-server.ts", import.meta.url);

/** Memory of a server in bytes after a collection, with its live environments and its counters. */
export interface Measure {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly environments: number;
  readonly stats: ReturnType<EnvironmentServer["stats"]>;
}

/** Environment server in a process of its own. */
export class MeasuredProcess {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  static async start(options: Omit<ServeEnvironmentsOptions, "host" | "address">): Promise<MeasuredProcess> {
    const started = fork(script, [JSON.stringify(options)], {
      execArgv: ["--expose-gc", "--conditions=mrlm-source"],
    });
    const [port] = (await once(started, "message")) as [number];
    return new MeasuredProcess(started, port);
  }

  async measure(): Promise<Measure> {
    this.#process.send("measure");
    const [measured] = (await once(this.#process, "message")) as [Measure];
    return measured;
  }

  /** Measures until a condition holds. */
  async until(condition: (measured: Measure) => boolean): Promise<Measure> {
    for (;;) {
      const measured = await this.measure();
      if (condition(measured)) return measured;
    }
  }

  async end(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill();
    await ended;
  }
}
