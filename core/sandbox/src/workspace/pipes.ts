import { execFile } from "node:child_process";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const BATCH = 32;
const { O_RDWR, O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** Pipe to or from a program. */
export interface Pipe {
  /** End of this process. */
  readonly stream: Socket;
  /** Descriptor for the program. */
  readonly far: number;
  /** Closes the descriptor for the program, once that has it. */
  release(): void;
}

/** Makes pipes. Those of Node are sockets, which a program cannot open by name: `echo > /dev/stderr` fails. */
export class Pipes {
  readonly #folder: string;
  #names: string[] = [];
  #making: Promise<void> | undefined;
  #made = 0;

  /** @param folder for FIFOs, whose names exist until they are used */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param direction `in`: the program reads, `out`: it writes */
  async open(direction: "in" | "out"): Promise<Pipe> {
    let path = this.#names.pop();
    while (path === undefined) {
      this.#making ??= this.#make().finally(() => (this.#making = undefined));
      await this.#making;
      path = this.#names.pop();
    }
    // An open that would wait for the other end does not wait while both are open.
    const both = openSync(path, O_RDWR | O_NONBLOCK);
    const near = openSync(path, (direction === "in" ? O_WRONLY : O_RDONLY) | O_NONBLOCK);
    const far = openSync(path, direction === "in" ? O_RDONLY : O_WRONLY);
    closeSync(both);
    unlinkSync(path);
    const stream = new Socket({ fd: near, readable: direction === "out", writable: direction === "in" });
    // The end of the program explains a broken pipe.
    stream.on("error", () => undefined);
    return { stream, far, release: () => closeSync(far) };
  }

  async #make(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () => join(this.#folder, String(this.#made++)));
    await promisify(execFile)("mkfifo", ["-m", "600", "--", ...paths]);
    this.#names.push(...paths);
  }
}
