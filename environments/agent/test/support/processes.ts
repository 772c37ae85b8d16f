import { readdirSync, readFileSync } from "node:fs";

/** Process that another has started. */
export interface Descendant {
  readonly pid: number;
  readonly command: string;
}

const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    // It has ended.
    return "";
  }
};

/** Returns the processes that descend from one. */
export function descendantsOf(pid: number): Descendant[] {
  const parents = new Map<number, number[]>();
  for (const each of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    const parent = Number(/^\d+ \(.*\) \S (\d+)/s.exec(read(each, "stat"))?.[1] ?? -1);
    parents.set(parent, [...(parents.get(parent) ?? []), each]);
  }
  const below = (parent: number): number[] => (parents.get(parent) ?? []).flatMap((each) => [each, ...below(each)]);
  return below(pid).map((each) => ({ pid: each, command: read(each, "cmdline").replaceAll("\0", " ") }));
}
