import { Writable } from "node:stream";
import { runCli } from "../../../core/cli/src/run-cli.ts";
import type { Event, Finished } from "./mrlm.ts";

/**
 * Runs a command in this process: for command lines that are refused before they start anything, which a process of their own would make slow.
 * @param env added to the environment while it runs
 */
export async function runHere(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Finished> {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const before = process.env;
  process.env = { ...before, ...env };
  try {
    const code = await runCli(args, { stdout, stderr });
    return { code, signal: null, stdout: stdout.text, stderr: stderr.text, events: eventsOf(stdout.text) };
  } finally {
    process.env = before;
  }
}

/** Keeps what is written to it. */
class Collected extends Writable {
  text = "";

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}

function eventsOf(text: string): Event[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Event);
}
