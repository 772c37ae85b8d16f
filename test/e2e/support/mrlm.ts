import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The repository, which is the project whose plugins are found. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const COMMAND = commandIn(ROOT);

/** An object that `--json` printed. */
export type Event = Readonly<Record<string, unknown>> & { readonly event: string };

/** A command that has ended. */
export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly events: readonly Event[];
}

/** Running command. */
export class Mrlm {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  readonly #events: Event[] = [];
  readonly #watchers = new Set<() => void>();
  #stdout = "";
  #stderr = "";
  #ended = false;

  /**
   * @param root another clone of the repository, whose command it is
   * @param jail program that runs the command, with its arguments
   */
  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}, root = ROOT, jail: readonly string[] = []) {
    const [program, ...rest] = [...jail, nodeIn(root), commandIn(root), ...args] as [string, ...string[]];
    const child = spawn(program, rest, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NODE_OPTIONS: "", ...env },
    });
    this.child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#stdout += `${line}\n`;
      if (line.startsWith("{")) this.#events.push(JSON.parse(line) as Event);
      this.#notify();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
      this.#notify();
    });
    this.finished = once(child, "close").then(([code, signal]) => {
      this.#ended = true;
      this.#notify();
      return {
        code: code as number | null,
        signal: signal as NodeJS.Signals | null,
        stdout: this.#stdout,
        stderr: this.#stderr,
        events: this.#events,
      };
    });
  }

  /** Waits for the first event that satisfies `holds`. Rejects with the output when the command ends without one. */
  event(holds: (event: Event) => boolean): Promise<Event> {
    return this.#until(() => this.#events.find(holds), "an event");
  }

  /** Waits until stderr contains a text. */
  async printed(text: string): Promise<void> {
    await this.#until(() => this.#stderr.includes(text) || undefined, JSON.stringify(text));
  }

  /** Returns the first event of a name that it has reported. */
  eventOf(name: string): Event | undefined {
    return this.#events.find(({ event }) => event === name);
  }

  /** Returns the ids of the processes of a role that it has reported, the latest last. */
  pids(role: string): number[] {
    return this.#events
      .filter((event) => event.event === "process" && event["role"] === role)
      .map(({ pid }) => pid as number);
  }

  /** Returns the number of the last iteration that it has reported. */
  lastStep(): number {
    return (this.#events.findLast(({ event }) => event === "iteration")?.["step"] as number | undefined) ?? 0;
  }

  #until<T>(look: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const found = look();
        if (found === undefined && !this.#ended) return;
        this.#watchers.delete(check);
        if (found === undefined) reject(new Error(`mrlm ended without ${what}:\n${this.#stdout}\n${this.#stderr}`));
        else resolve(found);
      };
      this.#watchers.add(check);
      check();
    });
  }

  #notify(): void {
    for (const check of [...this.#watchers]) check();
  }
}

/** Runs a command to its end. */
export function run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Finished> {
  return new Mrlm(args, env).finished;
}

/** Whether a process is alive; one that its parent has not waited for yet does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function commandIn(root: string): string {
  return join(root, "core/cli/bin/mrlm.js");
}

/** Returns the Node that a clone has installed. */
export function nodeIn(root: string): string {
  return root === ROOT ? process.execPath : join(root, "node_modules/node/bin/node");
}
