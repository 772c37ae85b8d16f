import { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";
import type { ExecResult, WorkspaceLimits } from "@mrlm/spec";
import type { Launch } from "../jail/launch.ts";
import { spawnLaunch } from "../jail/spawn-launch.ts";
import { killGroup } from "../watchdog/kill-group.ts";
import { UsageMeter } from "../watchdog/usage-meter.ts";
import { type Kill, WatchSlot } from "../watchdog/watchdog.ts";

type WorkspaceLimit = NonNullable<ExecResult["limit"]>;

const LIMITS: Readonly<Partial<Record<Kill, WorkspaceLimit>>> = {
  "cpu-limit": "cpu",
  "memory-limit": "memory",
  "process-limit": "processes",
};

/** Process 1 of the jail, the program, and what that starts; a limit counts the first one too. */
const OWN_PROCESSES = 1;

/** Priority of a jail, below that of the own processes of the host. */
const NICE = 5;

/** Program in a jail of its own with all processes that it starts, which the watchdog counts together. They end with the program. */
export class JailedProcess {
  /** Limit for which the watchdog ended it; `time` for its longest time. */
  limit: WorkspaceLimit | "time" | undefined;
  /** Settles with the exit code after the end; `null` where a signal ended it. */
  readonly ended: Promise<number | null>;
  readonly #process: ChildProcess;
  readonly #limits: WorkspaceLimits;
  readonly #slot: WatchSlot;
  readonly #started: Promise<void>;
  readonly #start: () => void;
  #pid = 0;
  #hasEnded = false;

  /** @param stdio descriptors 0 to 4 */
  constructor(launch: Launch, stdio: readonly (number | "ignore")[], limits: WorkspaceLimits) {
    this.#limits = limits;
    this.#slot = new WatchSlot(() => this.#onKill());
    const { process: child, pid, start } = spawnLaunch(launch, [...stdio]);
    this.#process = child;
    this.#start = start;
    this.#started = pid.then((found) => void (this.#pid = found));
    this.ended = this.#end();
  }

  /** Whether the jail was made. Settles when it is known. */
  async hasStarted(): Promise<boolean> {
    await this.#started;
    return this.#pid !== 0;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Starts the limits of a command, until the next call, and the program, unless it runs. */
  async watch(wallMs = Number.POSITIVE_INFINITY): Promise<void> {
    const began = performance.now();
    await Promise.all([this.#started, WatchSlot.ready()]);
    if (this.#hasEnded || this.#pid === 0) return;
    const meter = new UsageMeter(this.#pid, true, true);
    const { cpuMs, rssBytes } = meter.read(this.#limits.processes) ?? { cpuMs: 0, rssBytes: 0 };
    meter.close();
    const { memoryBytes, processes } = this.#limits;
    this.#slot.arm({
      pid: this.#pid,
      isTree: true,
      rssBytes,
      memoryBytes,
      cpuMs: cpuMs + this.#limits.cpuMs,
      wallMs: wallMs - (performance.now() - began),
      processes: processes + OWN_PROCESSES,
    });
    this.#lowerPriority();
    this.#start();
  }

  /** Returns the processes of the jail but its process 1: first the program. */
  processes(): number[] {
    return descendantsOf(this.#pid);
  }

  /** Sends a signal to processes of the jail, except some. */
  signal(name: "SIGINT" | "SIGKILL", except: readonly number[]): void {
    for (const pid of this.processes().filter((each) => !except.includes(each))) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended.
      }
    }
  }

  /** Ends all its processes. */
  kill(): void {
    if (this.#hasEnded) return;
    if (this.#pid !== 0) killGroup(this.#pid);
    killGroup(this.#process.pid ?? 0);
  }

  /** A storm of processes must not delay the watchdog, nor this process. */
  #lowerPriority(): void {
    try {
      setPriority(this.#pid, NICE);
    } catch {
      // It has ended.
    }
  }

  #onKill(): void {
    const kill = this.#slot.disarm();
    if (kill === undefined) return;
    this.limit = kill === "timeout" ? "time" : LIMITS[kill];
    this.kill();
  }

  async #end(): Promise<number | null> {
    try {
      const [code] = (await once(this.#process, "exit")) as [number | null];
      return code;
    } catch {
      return null;
    } finally {
      this.#onKill();
      this.#hasEnded = true;
      this.#slot.release();
    }
  }
}

/** Returns what descends from a process, each after its parent. */
function descendantsOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1"));
    const children = lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
    return children.flatMap((child) => [child, ...descendantsOf(child)]);
  } catch {
    return [];
  }
}
