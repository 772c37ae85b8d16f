import { once } from "node:events";
import type { JsonValue } from "@mrlm/spec";
import type { Launch } from "../jail/launch.ts";
import { spawnLaunch, type Started } from "../jail/spawn-launch.ts";
import { encodeFrame, FrameReader } from "../protocol/frames.ts";
import { ANSWER_FD, MAX_FRAME_BYTES, REQUEST_FD } from "../protocol/messages.ts";
import { killGroup } from "../watchdog/kill-group.ts";

const STDERR_TAIL = 4000;

/** Who hears of what a child does. */
export interface ConnectionListener {
  onFrame(frame: JsonValue): void;
  /** It sent something that is no frame. */
  onGarbage(what: string): void;
  /** `isKill`: by SIGKILL. */
  onExit(how: string, isKill: boolean): void;
}

/** A process and the frames that go to it and come from it. */
export class Connection {
  /** Settles when the process is gone. */
  readonly exited: Promise<void>;
  readonly #started: Started;
  readonly #reader = new FrameReader(MAX_FRAME_BYTES);
  #pid = 0;
  #said = "";

  constructor(launch: Launch, listener: ConnectionListener) {
    this.#started = spawnLaunch(launch);
    const { process: child, stdio, pid } = this.#started;
    void pid.then((known) => (this.#pid = known));
    stdio[2]?.on("data", (chunk: Buffer) => (this.#said = (this.#said + chunk.toString("latin1")).slice(-STDERR_TAIL)));
    stdio[ANSWER_FD]?.on("data", (chunk: Buffer) => {
      try {
        for (const frame of this.#reader.push(chunk)) listener.onFrame(frame);
      } catch (error) {
        listener.onGarbage((error as Error).message);
      }
    });
    // "close" comes after the last byte of every pipe, so that nothing which was said before the end is lost.
    this.exited = once(child, "close").then(
      // bubblewrap ends with 128 and the number of the signal that ended the child.
      ([code, signal]) =>
        listener.onExit(
          code === null ? `signal ${signal}` : `exit code ${code}`,
          signal === "SIGKILL" || code === 128 + 9,
        ),
      (error: Error) => listener.onExit(error.message, false),
    );
  }

  /** Process id of the child itself, inside whatever wraps it. */
  pid(): Promise<number> {
    return this.#started.pid;
  }

  /** The end of what the child wrote to its standard error: a submission cannot write there. */
  get said(): string {
    return this.#said.trim();
  }

  send(message: unknown): void {
    this.#started.stdio[REQUEST_FD]?.write(encodeFrame(message));
  }

  /** Ends the process and all that it has started: it leads a process group, or is the first of a PID namespace. This process waits for that. */
  kill(): void {
    const outer = this.#started.process;
    if (outer.exitCode !== null || outer.signalCode !== null) return;
    this.setReferenced(true);
    for (const pid of [this.#pid, outer.pid ?? 0].filter((id) => id > 0)) killGroup(pid);
  }

  /** Whether this process stays alive for the child's sake. */
  setReferenced(isReferenced: boolean): void {
    const { process: child, stdio } = this.#started;
    const open = stdio.filter((stream) => stream !== null && !stream.destroyed);
    for (const handle of [child, ...open] as { ref(): void; unref(): void }[]) {
      if (isReferenced) handle.ref();
      else handle.unref();
    }
  }
}
