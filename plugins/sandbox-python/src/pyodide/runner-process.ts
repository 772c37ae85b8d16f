/* oxlint-disable no-underscore-dangle -- the name that Node gives it */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { Link } from "./link.ts";
import { type Ending, RUNNER_FD, type RunnerRequest, type Usage } from "./runner-protocol.ts";

/** Thrown for a request to a submission that has ended. */
export class RunnerEnded extends Error {
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(`the submission ended: ${ending.verdict}`);
    this.ending = ending;
  }
}

const GONE: Ending = { verdict: "killed", reason: "the runner's process ended" };

/** Internal handle of a socket, for synchronous functions that Node does not document. */
interface Handle {
  readonly fd: number;
  readStop(): number;
  setBlocking(isBlocking: boolean): number;
}

/** Supervisor's side of a runner's process. */
export class RunnerProcess {
  /** Last reported usage of its submission. */
  usage: Usage = { cpuMs: 0, usedBytes: 0, grownBytes: 0 };
  /** Whether its process has ended. */
  isGone = false;
  onOutput: (stream: "stdout" | "stderr", text: string) => void = () => {};
  readonly #process: ChildProcess;
  readonly #link: Link;
  #isPristine = false;

  constructor(entry: URL, image: string) {
    this.#process = spawn(
      process.execPath,
      [...flagsOf(process.execArgv), fileURLToPath(entry), image, String(process.pid)],
      {
        env: {},
        stdio: [
          "ignore",
          "ignore",
          "inherit",
          ...Array.from({ length: RUNNER_FD - 3 }, () => "ignore" as const),
          "pipe",
        ],
      },
    );
    this.#process.on("error", () => {}); // The link reports the end too.
    const socket = this.#process.stdio[RUNNER_FD] as Socket & { readonly _handle: Handle };
    socket.on("error", () => {});
    // The event loop must not read the data of the link.
    socket._handle.readStop();
    socket._handle.setBlocking(true);
    this.#link = new Link(socket._handle.fd);
  }

  /** Waits until it can take a submission; false if it has failed. */
  isPristine(): boolean {
    this.#isPristine ||= this.#receive()[0] === "pristine";
    return this.#isPristine;
  }

  /** Sends a request without waiting for an answer. */
  send(request: RunnerRequest, content = ""): void {
    this.#isPristine = false;
    if (request === "begin") this.usage = { ...this.usage, cpuMs: 0, usedBytes: 0 };
    this.#link.write(`${request}\n${content}`);
  }

  /** Sends a message to Python and returns the answer. Throws RunnerEnded. */
  ask(message: string): string {
    this.send("python", message);
    return this.answer();
  }

  /** Returns Python's answer to the last message. Throws RunnerEnded. */
  answer(): string {
    const [kind, content = ""] = this.#receive();
    const line = content.indexOf("\n");
    const text = content.slice(line + 1);
    if (line > 0) {
      const [cpuMs = 0, usedBytes = 0, grownBytes = 0] = content.slice(0, line).split(" ").map(Number);
      this.usage = { cpuMs, usedBytes, grownBytes };
    }
    if (kind === "answer") return text;
    this.isGone = kind !== "ended";
    throw new RunnerEnded(this.isGone ? GONE : endingIn(text));
  }

  /** Sends a snapshot or restore request and returns the answer. */
  exchange(request: RunnerRequest, content = ""): string {
    this.send(request, content);
    const [answer] = this.#receive();
    if (answer === undefined) throw new RunnerEnded(GONE);
    return answer;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** Reads the next message that is not output: the first line, and the rest. */
  #receive(): [string?, ...string[]] {
    for (;;) {
      const message = this.#link.read();
      if (message === undefined) return [];
      const line = message.indexOf("\n");
      const [kind, rest] = line < 0 ? [message, ""] : [message.slice(0, line), message.slice(line + 1)];
      if (kind !== "output") return [kind, rest];
      const end = rest.indexOf("\n");
      this.onOutput(rest.slice(0, end) === "stdout" ? "stdout" : "stderr", rest.slice(end + 1));
    }
  }
}

/** Parses the ending in a message; GONE if a broken interpreter wrote other text. */
function endingIn(text: string): Ending {
  try {
    return (JSON.parse(text) as Ending | null) ?? GONE;
  } catch {
    return GONE;
  }
}

/** Returns the supervisor's flags without the permissions that a runner must not have. */
function flagsOf(flags: readonly string[]): string[] {
  return flags.filter((flag) => flag !== "--allow-child-process");
}
