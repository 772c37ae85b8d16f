import { readdirSync, readFileSync } from "node:fs";

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  /** Distinguishes it, with the number, from a later process of the same number. */
  readonly started: string;
  readonly rssBytes: number;
}

const PAGE = 4096;

/** Descendants of this process, with those that have ended. */
export class Processes {
  readonly #seen = new Map<string, number>();

  /** Returns the processes that exist now. */
  below(): Process[] {
    const all = allProcesses();
    const found = new Map<number, Process>();
    let known = [process.pid];
    while (known.length > 0) {
      const children = all.filter(({ pid, parent }) => known.includes(parent) && !found.has(pid));
      for (const child of children) found.set(child.pid, child);
      known = children.map(({ pid }) => pid);
    }
    for (const { pid, started } of found.values()) this.#seen.set(`${pid}:${started}`, pid);
    return [...found.values()];
  }

  /** Returns the recorded processes that have not ended, under any parent. */
  alive(): number[] {
    this.below();
    return allProcesses()
      .filter(({ pid, started, state }) => this.#seen.has(`${pid}:${started}`) && state !== "Z")
      .map(({ pid }) => pid);
  }

  /** Returns the recorded processes that have ended and whose parent has not waited for them. */
  zombies(): number {
    return allProcesses().filter(({ pid, started, state }) => this.#seen.has(`${pid}:${started}`) && state === "Z")
      .length;
  }
}

function allProcesses(): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        // The name may hold anything, brackets too.
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return [
          {
            pid: Number(name),
            state: fields[0] as string,
            parent: Number(fields[1]),
            started: fields[19] as string,
            rssBytes: Number(fields[21]) * PAGE,
          },
        ];
      } catch {
        return []; // The process has ended in the meantime.
      }
    });
}
