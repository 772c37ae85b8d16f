import { readdirSync, readFileSync } from "node:fs";

/** Process that code of a plugin started. */
export interface StartedProcess {
  readonly pid: number;
  /** Program and arguments. */
  readonly command: string;
}

/**
 * Lists the running processes below a process of plugins, and those with its folder of temporary files in their environment: a detached process whose parent
 * has ended is below no other. Only Linux has this information; elsewhere the list is empty.
 */
export function startedProcesses(pid: number, temporary: string): StartedProcess[] {
  if (process.platform !== "linux") return [];
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== pid);
  const parents = new Map(all.flatMap((name) => parentOf(Number(name))));
  const isBelow = (each: number | undefined): boolean =>
    each === pid || (each !== undefined && isBelow(parents.get(each)));
  return [...parents.keys()]
    .filter((each) => isBelow(each) || inherits(each, temporary))
    .map((each) => ({ pid: each, command: read(each, "cmdline").replaceAll("\0", " ").trim() }));
}

/** Returns the entry of a process that runs: its id and that of its parent. */
function parentOf(pid: number): [number, number][] {
  // The name of the program, in brackets, may contain any characters.
  const [state, parent] = read(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ");
  return state === undefined || ["", "Z", "X"].includes(state) ? [] : [[pid, Number(parent)]];
}

function inherits(pid: number, temporary: string): boolean {
  return read(pid, "environ")
    .split("\0")
    .some((each) => each === `TMPDIR=${temporary}` || each.startsWith(`TMPDIR=${temporary}/`));
}

/** Returns the text of a file in /proc, which is empty for a process that has ended or belongs to another user. */
function read(pid: number, file: "cmdline" | "environ" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
