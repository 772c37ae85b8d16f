import { once } from "node:events";
import type { JsonValue } from "@mrlm/spec";
import type { Launch } from "../jail/launch.ts";
import { spawnLaunch, type Started } from "../jail/spawn-launch.ts";
import { encodeFrame, FrameReader } from "../protocol/frames.ts";
import { ANSWER_FD, MAX_FRAME_BYTES, REQUEST_FD } from "../protocol/messages.ts";
import { killGroup } from "../watchdog/kill-group.ts";

const STDERR_TAIL_CHARACTERS = 4000;

/** Callbacks for the events of a child. */
export interface ConnectionListener {
  onFrame(frame: JsonValue): void;
  /** Called for data that is not a frame. */
  onGarbage(what: string): void;
  /** Called when the process exits; `isKill`: SIGKILL ended it. */
  onExit(how: string, isKill: boolean): void;
}

/** Process with its frames in both directions. */
export class Connection {
  /** Settles when the process has exited. */
  readonly exited: Promise<void>;
  readonly #started: Started;
  readonly #reader = new FrameReader(MAX_FRAME_BYTES);
  #pid = 0;
  #isKilled = false;
  #stderrTail = "";

  constructor(launch: Launch, listener: ConnectionListener) {
    this.#started = spawnLaunch(launch);
    const { process: child, stdio, pid } = this.#started;
    void pid.then((known) => {
      this.#pid = known;
      // bubblewrap alone was killed. Its child may have left the group, and not yet have asked to end with it.
      if (this.#isKilled && known > 0) killGroup(known);
    });
    stdio[2]?.on(
      "data",
      (chunk: Buffer) =>
        (this.#stderrTail = (this.#stderrTail + chunk.toString("latin1")).slice(-STDERR_TAIL_CHARACTERS)),
    );
    stdio[ANSWER_FD]?.on("data", (chunk: Buffer) => {
      try {
        for (const frame of this.#reader.push(chunk)) listener.onFrame(frame);
      } catch (error) {
        listener.onGarbage((error as Error).message);
      }
    });
    // "close" follows the last byte of every pipe, so no message is lost.
    this.exited = once(child, "close").then(
      // bubblewrap exits with 128 plus the number of the signal that ended the child.
      ([code, signal]) =>
        listener.onExit(
          code === null ? `signal ${signal}` : `exit code ${code}`,
          signal === "SIGKILL" || code === 128 + 9,
        ),
      (error: Error) => listener.onExit(error.message, false),
    );
  }

  /** Returns the process id of the child, not of its wrapper. */
  pid(): Promise<number> {
    return this.#started.pid;
  }

  /** Last part of the standard error of the child, to which a submission cannot write. */
  get stderrTail(): string {
    return this.#stderrTail.trim();
  }

  send(message: unknown): void {
    this.#started.stdio[REQUEST_FD]?.write(encodeFrame(message));
  }

  /** Kills the process and all that it started: it leads a process group, or is process 1 of a PID namespace. */
  kill(): void {
    this.setReferenced(true);
    this.#isKilled = true;
    const outer = this.#started.process;
    if (outer.exitCode !== null || outer.signalCode !== null) return;
    for (const pid of [this.#pid, outer.pid ?? 0].filter((id) => id > 0)) killGroup(pid);
  }

  /** Sets whether the child keeps this process alive. A killed one does until it has exited: a caller may wait for that, and nothing else. */
  setReferenced(isReferenced: boolean): void {
    if (this.#isKilled) return;
    const { process: child, stdio } = this.#started;
    const open = stdio.filter((stream) => stream !== null && !stream.destroyed);
    for (const handle of [child, ...open] as { ref(): void; unref(): void }[]) {
      if (isReferenced) handle.ref();
      else handle.unref();
    }
  }
}
