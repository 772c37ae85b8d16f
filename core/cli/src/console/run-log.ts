import { appendFileSync } from "node:fs";
import type { Console } from "./console.ts";
import { printable } from "./printable.ts";

/** Log file of a run for people: everything that is printed, with details. A failed write is ignored, because other files hold all results. */
export class RunLog {
  #path: string | undefined;
  #before: string[] = [];

  /** Appends the entries until now and all later ones to the file. */
  open(path: string): void {
    this.#path = path;
    for (const text of this.#before.splice(0)) this.#append(text);
  }

  write(text: string): void {
    const entry = `${new Date().toISOString()} ${printable(text.trim())}\n`;
    if (this.#path === undefined) this.#before.push(entry);
    else this.#append(entry);
  }

  #append(entry: string): void {
    try {
      appendFileSync(this.#path as string, entry);
    } catch {
      // The run's own files report a full disk.
    }
  }
}

/** Returns a console that copies each of its lines to the log. */
export function withLog(console: Console, log: RunLog): Console {
  return {
    ...console,
    print(line) {
      log.write(line);
      console.print(line);
    },
    note(line) {
      log.write(line);
      console.note(line);
    },
  };
}
