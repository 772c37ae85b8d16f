import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { MrlmError } from "@mrlm/spec";
import type { Launcher, PartEnd, PartEvent, PartKind, PartProcess } from "@mrlm/spec/host";
import { EXIT } from "../exit-codes.ts";
import type { PlannedPart } from "./part-commands.ts";

/** Longest pause before a process is started again, in milliseconds. */
const MAX_PAUSE_MS = 30_000;
/** Longest start of a server that training needs, in milliseconds. */
const READY_MS = 60_000;
const POLL_MS = 100;
/** Kinds whose processes end by themselves, with code 0, when the run has ended. */
const ENDING: ReadonlySet<PartKind> = new Set(["rollouts", "sampler"]);

/** Parts of a run that a launcher has started. A process that ended by a fault is started again. */
export class LaunchedParts {
  readonly #launcher: Launcher;
  readonly #notice: (text: string) => void;
  readonly #report: (event: PartEvent) => void;
  readonly #pauseMs: number;
  readonly #stop = new AbortController();
  readonly #restarting = new Set<Promise<void>>();

  /**
   * @param notice receives the lines of the processes, and their faults
   * @param report receives each start and end
   * @param pauseMs time before the first restart of a process; each later one doubles it
   */
  constructor(launcher: Launcher, notice: (text: string) => void, report: (event: PartEvent) => void, pauseMs = 1000) {
    this.#launcher = launcher;
    this.#notice = notice;
    this.#report = report;
    this.#pauseMs = pauseMs;
  }

  /** Starts parts, and waits for the servers among them that training needs. Rejects with LAUNCHER_FAILED or SERVER_UNAVAILABLE. */
  async start(parts: readonly PlannedPart[]): Promise<void> {
    const watched = parts.map((planned) => ({ planned, watch: this.#watch(planned) }));
    for (const { planned, watch } of watched) await this.#launcher.start([planned.part], watch.onEvent);
    await Promise.all(
      watched.map(async ({ planned: { address }, watch }) => {
        if (address !== undefined) await this.#ready(address, watch.givenUp);
      }),
    );
  }

  /** Ends all processes. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#launcher.stop();
    await Promise.all(this.#restarting);
  }

  #watch({ part, restarts }: PlannedPart): { onEvent(event: PartEvent): void; readonly givenUp: AbortSignal } {
    let used = 0;
    const givenUp = new AbortController();
    const onEvent = (event: PartEvent): void => {
      if (event.kind === "output") return this.#print(event.process, event.line);
      this.#report(event);
      if (event.kind !== "ended" || this.#stop.signal.aborted) return;
      const { process: ended, cause } = event;
      if (ENDING.has(part.kind) && cause.kind === "exit" && cause.code === EXIT.ok) return;
      const how = describeEnd(ended, cause);
      // The same command would be refused again.
      if ((cause.kind === "exit" && cause.code === EXIT.invalid) || used >= restarts) {
        const times = used === 0 ? "" : ` after ${used} restarts`;
        this.#notice(`${how}; it is not started again${times}.`);
        return givenUp.abort(new MrlmError("LAUNCHER_FAILED", `${how}${times}.`, { hint: "Its output is above." }));
      }
      const pause = Math.min(this.#pauseMs * 2 ** used++, MAX_PAUSE_MS);
      this.#notice(`${how}; starting another in ${pause / 1000} s.`);
      const restart = this.#restart(pause, () => this.#launcher.start([{ ...part, count: 1 }], onEvent)).catch(
        (error: Error) => {
          this.#notice(`${ended.id} cannot be started again: ${error.message}`);
          givenUp.abort(error);
        },
      );
      this.#restarting.add(restart);
      void restart.then(() => this.#restarting.delete(restart));
    };
    return { onEvent, givenUp: givenUp.signal };
  }

  #print({ id }: PartProcess, line: string): void {
    if (line !== "" && !this.#stop.signal.aborted) this.#notice(`${id}: ${line}`);
  }

  async #restart(pauseMs: number, start: () => Promise<void>): Promise<void> {
    await delay(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    if (!this.#stop.signal.aborted) await start();
  }

  /** Waits until an address accepts a connection. */
  async #ready(address: string, givenUp: AbortSignal): Promise<void> {
    const end = performance.now() + READY_MS;
    while (!(await accepts(address))) {
      givenUp.throwIfAborted();
      if (performance.now() > end)
        throw new MrlmError(
          "SERVER_UNAVAILABLE",
          `Nothing accepts connections at ${address} after ${READY_MS / 1000} s.`,
        );
      await delay(POLL_MS);
    }
  }
}

/** Describes the end of a process: `rollouts-0 on HOST (process 12) ended by SIGKILL`. */
export function describeEnd({ id, node, pid }: PartProcess, cause: PartEnd): string {
  const name = `${id} on ${node} (process ${pid})`;
  switch (cause.kind) {
    case "exit":
      return `${name} ended with code ${cause.code}`;
    case "signal":
      return `${name} ended by ${cause.signal}`;
    case "node_lost":
      return `The machine ${cause.node} was lost, and ${id} (process ${pid}) with it`;
    case "unknown":
      return `${name} was lost: ${cause.message}`;
  }
}

async function accepts(address: string): Promise<boolean> {
  const end = address.lastIndexOf(":");
  const socket = connect(Number(address.slice(end + 1)), address.slice(0, end).replace(/^\[(.*)\]$/, "$1"));
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once("connect", () => resolve(true));
  socket.once("error", () => resolve(false));
  socket.setTimeout(1000, () => resolve(false));
  const isOpen = await promise;
  socket.destroy();
  return isOpen;
}
