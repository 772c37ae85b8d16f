import { setTimeout as sleep } from "node:timers/promises";
import { type Finished, isAlive, type Mrlm } from "../../e2e/support/mrlm.ts";
import type { PlannedSignal } from "./planned-signals.ts";
import type { Kind } from "./kinds.ts";

/** Longer than a lease (15 s), and than the pings that find a stopped process. A store server is away for a minute. */
const stoppedMs = (kind: Kind): number => (kind === "store" ? 60_000 : 25_000);

/** End of a command with another code than 0. */
export interface PartEnd {
  /** Code of the error that it reported. */
  readonly error: string | undefined;
  /** Kind of its process that was killed. */
  readonly killed: Kind | undefined;
  /** Whether it had begun its work. */
  readonly wasReady: boolean;
}

/** Description of a command that takes part in a run. */
export interface PartOptions {
  readonly name: string;
  /** Starts the command, for the first time or again. */
  start(): Mrlm;
  /** Event after which it does its work. */
  readonly ready: string;
  /** Processes of each kind that the command consists of. */
  readonly processes: Readonly<Partial<Record<Kind, (mrlm: Mrlm) => readonly (number | undefined)[]>>>;
  /** Kind of process without which the command continues. */
  readonly survives?: Kind;
  /** Whether an end by an error follows from what was killed. Default: any end after a kill of the command. */
  isExpected?(end: PartEnd): boolean;
}

/** Ends that no kill explains are reported so often; then the command is not started again. */
const MOST_FAULTS = 5;

/** Command that is started again each time that one of its processes was killed. */
export class Part {
  /** Ends that no kill explains. */
  readonly faults: string[] = [];
  /** Resolves when the command has ended with code 0. */
  readonly ended: Promise<Finished | undefined>;
  #mrlm: Mrlm | undefined;
  #isReady = false;
  #killed: Kind | undefined;
  #isEnding = false;
  #startedAt = 0;
  /** Duration of the last complete start. */
  #startMs = Infinity;
  readonly #options: PartOptions;
  readonly #stopped = new Set<number>();

  constructor(options: PartOptions) {
    this.#options = options;
    this.ended = this.#supervise();
  }

  /** Waits until it does its work, or has ended. */
  async ready(): Promise<void> {
    while (!this.#isReady && (await Promise.race([this.ended.then(() => true), sleep(20)])) !== true);
  }

  /** Sends a signal to one of its processes. Returns whether there was one. */
  send({ kind, signal, early }: PlannedSignal, random: () => number): boolean {
    const mrlm = this.#mrlm;
    if (mrlm === undefined || this.#killed !== undefined || this.#isReady !== (early === undefined)) return false;
    if (early !== undefined && performance.now() - this.#startedAt < early * this.#startMs) return false;
    const pids = (this.#options.processes[kind]?.(mrlm) ?? []).filter(
      (pid) => pid !== undefined && isAlive(pid) && !this.#stopped.has(pid),
    );
    const pid = pids[Math.floor(random() * pids.length)];
    if (pid === undefined) return false;
    if (signal === "SIGSTOP") void this.#stop(pid, stoppedMs(kind));
    else if (kind !== this.#options.survives) this.#killed = kind;
    process.kill(pid, signal);
    return true;
  }

  /** Asks it to end, and waits. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#mrlm?.child.kill("SIGTERM");
    await this.ended;
  }

  async #stop(pid: number, milliseconds: number): Promise<void> {
    this.#stopped.add(pid);
    await sleep(milliseconds);
    this.#stopped.delete(pid);
    if (isAlive(pid)) process.kill(pid, "SIGCONT");
  }

  async #supervise(): Promise<Finished | undefined> {
    const { name, start, ready, isExpected = ({ killed }) => killed !== undefined } = this.#options;
    while (this.faults.length < MOST_FAULTS && !this.#isEnding) {
      const mrlm = start();
      this.#mrlm = mrlm;
      this.#killed = undefined;
      this.#isReady = false;
      this.#startedAt = performance.now();
      void mrlm
        .event(({ event }) => event === ready)
        .then(
          () => {
            this.#isReady = true;
            this.#startMs = performance.now() - this.#startedAt;
          },
          () => undefined,
        );
      const finished = await mrlm.finished;
      const [killed, wasReady] = [this.#killed, this.#isReady];
      this.#isReady = false;
      if (finished.code === 0) return finished;
      // A process that is asked to end while it starts has no handler yet.
      if (this.#isEnding && !wasReady) return finished;
      const error = finished.events.find(({ event }) => event === "error")?.["code"] as string | undefined;
      if (!isExpected({ error, killed, wasReady }))
        this.faults.push(
          `${name} ended with ${finished.code ?? finished.signal} after a kill of ${killed ?? "nothing"}:\n${tail(finished)}`,
        );
    }
    return undefined;
  }
}

function tail({ stdout, stderr }: Finished): string {
  return `${stdout.slice(-600)}\n${stderr.slice(-2_000)}`;
}
