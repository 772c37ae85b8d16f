/* oxlint-disable no-underscore-dangle -- the name that Node gives it */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { Link } from "./link.ts";
import { type Ending, RUNNER_FD, type RunnerRequest, type Usage } from "./runner-protocol.ts";

/** The submission has ended: nothing more can be asked of it. */
export class RunnerEnded extends Error {
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(`the submission ended: ${ending.verdict}`);
    this.ending = ending;
  }
}

const GONE: Ending = { verdict: "killed", reason: "the runner's process ended" };

/** The handle behind a socket: what Node's synchronous functions need of it has no documented name. */
interface Handle {
  readonly fd: number;
  readStop(): number;
  setBlocking(isBlocking: boolean): number;
}

/** The supervisor's side of a runner's process. */
export class RunnerProcess {
  /** Last reported usage of its submission. */
  usage: Usage = { cpuMs: 0, usedBytes: 0, grownBytes: 0 };
  /** Its process has ended. */
  isGone = false;
  onOutput: (stream: "stdout" | "stderr", text: string) => void = () => {};
  readonly #process: ChildProcess;
  readonly #link: Link;
  #isPristine = false;

  constructor(entry: URL, image: string) {
    this.#process = spawn(process.execPath, [...flagsOf(process.execArgv), fileURLToPath(entry), image], {
      env: {},
      stdio: ["ignore", "ignore", "inherit", ...Array.from({ length: RUNNER_FD - 3 }, () => "ignore" as const), "pipe"],
    });
    this.#process.on("error", () => {}); // Seen on the link.
    const socket = this.#process.stdio[RUNNER_FD] as Socket & { readonly _handle: Handle };
    socket.on("error", () => {});
    // The event loop must not read what is meant for the link.
    socket._handle.readStop();
    socket._handle.setBlocking(true);
    this.#link = new Link(socket._handle.fd);
  }

  /** Waits until it can take a submission; false when it never will. */
  isPristine(): boolean {
    this.#isPristine ||= this.#heard()[0] === "pristine";
    return this.#isPristine;
  }

  /** Says what needs no answer now. */
  send(request: RunnerRequest, content = ""): void {
    this.#isPristine = false;
    if (request === "begin") this.usage = { ...this.usage, cpuMs: 0, usedBytes: 0 };
    this.#link.write(`${request}\n${content}`);
  }

  /** Python's answer to a message. Throws RunnerEnded. */
  ask(message: string): string {
    this.send("python", message);
    return this.answer();
  }

  /** Python's answer to the message that it was told. Throws RunnerEnded. */
  answer(): string {
    const [kind, said = ""] = this.#heard();
    const line = said.indexOf("\n");
    const text = said.slice(line + 1);
    if (line > 0) {
      const [cpuMs = 0, usedBytes = 0, grownBytes = 0] = said.slice(0, line).split(" ").map(Number);
      this.usage = { cpuMs, usedBytes, grownBytes };
    }
    if (kind === "answer") return text;
    this.isGone = kind !== "ended";
    throw new RunnerEnded(this.isGone ? GONE : endingIn(text));
  }

  /** The answer to a snapshot or a restore. */
  exchange(request: RunnerRequest, content = ""): string {
    this.send(request, content);
    const [answer] = this.#heard();
    if (answer === undefined) throw new RunnerEnded(GONE);
    return answer;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** What it says next beside output: the first line, and the rest. */
  #heard(): [string?, ...string[]] {
    for (;;) {
      const said = this.#link.read();
      if (said === undefined) return [];
      const line = said.indexOf("\n");
      const [kind, rest] = line < 0 ? [said, ""] : [said.slice(0, line), said.slice(line + 1)];
      if (kind !== "output") return [kind, rest];
      const end = rest.indexOf("\n");
      this.onOutput(rest.slice(0, end) === "stdout" ? "stdout" : "stderr", rest.slice(end + 1));
    }
  }
}

/** The ending in a message; GONE where a broken interpreter wrote something else. */
function endingIn(text: string): Ending {
  try {
    return (JSON.parse(text) as Ending | null) ?? GONE;
  } catch {
    return GONE;
  }
}

/** The supervisor's flags without what a runner must not do. */
function flagsOf(flags: readonly string[]): string[] {
  return flags.filter((flag) => flag !== "--allow-child-process");
}
