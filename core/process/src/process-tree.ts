import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { parentOf, readProcess } from "./running.ts";

/**
 * Environment variable with the mark of a tree. Processes that its leader starts inherit it, also those that leave its group. A tree within a tree has the
 * mark of the outer one before its own.
 */
export const TREE = "MRLM_PROCESS_TREE";

/** Name of the process that guards trees and folders of another one, and ends by itself after that. */
export const GUARDIAN = "mrlm-guardian";

/** Processes that end together: a leader with a process group of its own, and what descends from it. */
export interface ProcessTree {
  /** Id of the leader, and of its group. */
  readonly pid: number;
  readonly mark: string;
}

export interface TreeProcess {
  readonly pid: number;
  /** Program and arguments. */
  readonly command: string;
}

/** Searches for what is left of a tree: a process can have started another one before it was killed. */
const ROUNDS = 20;

export function newMark(): string {
  const outer = process.env[TREE];
  const own = randomUUID();
  return outer === undefined ? own : `${outer}/${own}`;
}

/** Returns the tree that this process leads, as one that `startChild` started. */
export function ownTree(): ProcessTree {
  return { pid: process.pid, mark: process.env[TREE] ?? randomUUID() };
}

/** Sends a signal to the group of a tree. Returns false where it has ended. Windows has no groups: there it goes to the leader. */
export function signalGroup({ pid }: Pick<ProcessTree, "pid">, signal: NodeJS.Signals | 0): boolean {
  return send(process.platform === "win32" ? pid : -pid, signal);
}

/**
 * Lists the running processes of a tree but its leader and guardians: those below it, and those with its mark, because a detached process whose parent has
 * ended is below no other. Only Linux has this information; elsewhere the list is empty.
 */
export function listTree({ pid, mark }: ProcessTree): TreeProcess[] {
  if (process.platform !== "linux") return [];
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== pid);
  const parents = new Map(
    all.flatMap((name) => {
      const parent = parentOf(Number(name));
      return parent === undefined ? [] : [[Number(name), parent] as const];
    }),
  );
  const isBelow = (each: number | undefined): boolean =>
    each === pid || (each !== undefined && isBelow(parents.get(each)));
  return [...parents.keys()]
    .filter((each) => isBelow(each) || hasMark(readProcess(each, "environ"), (found) => isWithin(found, mark)))
    .map((each) => ({ pid: each, command: readProcess(each, "cmdline").replaceAll("\0", " ").trim() }))
    .filter(({ command }) => !command.includes(GUARDIAN));
}

/** Kills a tree at once, without waiting for its end: for the exit of this process, and for the tree of this process itself. */
export function killTree(tree: ProcessTree): void {
  // It must start nothing meanwhile.
  if (tree.pid !== process.pid && process.platform !== "win32") signalGroup(tree, "SIGSTOP");
  for (let round = 0; round < ROUNDS; round++) {
    const left = listTree(tree);
    if (left.length === 0) break;
    for (const { pid } of left) send(pid, "SIGKILL");
  }
  signalGroup(tree, "SIGKILL");
}

/** Kills a tree whose leader has ended or is to end. Settles when no process of it is left. One search of /proc serves all trees that end at the same time. */
export async function killWholeTree(tree: ProcessTree): Promise<void> {
  signalGroup(tree, "SIGKILL");
  if (process.platform !== "linux") return;
  for (let round = 0; round < ROUNDS; round++) if (!(await search(tree.mark))) return;
}

/** Marks that the next search looks for. */
let wanted = new Set<string>();
let searching: Promise<ReadonlySet<string>> | undefined;

/** Kills the processes with a mark. Returns whether there were any. */
async function search(mark: string): Promise<boolean> {
  wanted.add(mark);
  searching ??= (async () => {
    await delay(5);
    const marks = wanted;
    wanted = new Set();
    searching = undefined;
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const found = await Promise.all(pids.map((pid) => killMarked(Number(pid), marks)));
    return new Set(found.flat());
  })();
  return (await searching).has(mark);
}

/** Kills a process that belongs to one of the trees, and returns their marks. */
async function killMarked(pid: number, marks: ReadonlySet<string>): Promise<readonly string[]> {
  if (pid === process.pid) return [];
  try {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1");
    const trees = [...marks].filter((mark) => hasMark(environment, (found) => isWithin(found, mark)));
    if (trees.length > 0) process.kill(pid, "SIGKILL");
    return trees;
  } catch {
    // The process has ended, or belongs to another user.
    return [];
  }
}

/** @param environment variables of a process, each ended by a zero byte */
function hasMark(environment: string, isWanted: (mark: string) => boolean): boolean {
  const variable = `\0${environment}`.split(`\0${TREE}=`)[1];
  return variable !== undefined && isWanted(variable.split("\0", 1)[0] as string);
}

function isWithin(mark: string, tree: string): boolean {
  return mark === tree || mark.startsWith(`${tree}/`);
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    // It has ended.
    return false;
  }
}
