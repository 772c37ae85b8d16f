import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";
import type { ChildProgram } from "../program/child-program.ts";
import { FIRST_EXTRA_FD, type Launch } from "./launch.ts";
import { seccompFilter } from "./seccomp.ts";

/** Parts of a bubblewrap jail that not every machine allows. */
export interface BubblewrapOptions {
  readonly seccomp: boolean;
  /** Mount a separate /proc; some containers forbid it. */
  readonly proc: boolean;
}

/** User id that owns no file in the jail. */
const UNPRIVILEGED = "65534";
/** User id for programs that make namespaces: for another id bubblewrap nests a user namespace that does not own the jail's others. */
const ROOT = "0";
const TMP_BYTES = 64 * 1024 * 1024;

/** System folders that a dynamically linked program needs. */
const SYSTEM = [
  "/lib",
  "/lib32",
  "/lib64",
  "/usr/lib",
  "/usr/lib32",
  "/usr/lib64",
  "/usr/local/lib",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
];

/**
 * Runs a program in separate namespaces for users, mounts, processes, IPC, network, host name and control groups, as an unprivileged user.
 * Its file system has the system's libraries and the program's mounts, read-only, and an empty /tmp. A filter refuses system calls. The
 * program ends with this process.
 */
export function bubblewrapLaunch(
  bubblewrap: string,
  program: ChildProgram,
  { seccomp, proc }: BubblewrapOptions,
): Launch {
  const filter = seccomp
    ? seccompFilter({ forks: program.forks === true, namespaces: program.namespaces === true })
    : undefined;
  const user = program.namespaces === true ? ROOT : UNPRIVILEGED;
  const args = [
    ...["--unshare-all", "--unshare-user", "--uid", user, "--gid", user, "--hostname", "sandbox"],
    ...["--die-with-parent", "--new-session", "--clearenv"],
    ...(program.namespaces === true ? ["--cap-add", "CAP_SYS_ADMIN"] : ["--cap-drop", "ALL"]),
    ...Object.entries(program.env ?? {}).flatMap(([name, value]) => ["--setenv", name, value]),
    ...SYSTEM.flatMap(systemMount),
    ...program.mounts.flatMap(({ source, target }) => ["--ro-bind", source, target]),
    ...(program.links ?? []).flatMap(({ target, path }) => ["--dir", dirname(path), "--symlink", target, path]),
    ...(proc ? ["--proc", "/proc"] : []),
    // Only /tmp is writable: a file in /dev would take memory that no limit counts, and the next submission could read it.
    ...[
      "--dev",
      "/dev",
      "--remount-ro",
      "/dev",
      "--size",
      String(program.tmpBytes ?? TMP_BYTES),
      "--tmpfs",
      "/tmp",
      "--remount-ro",
      "/",
      "--chdir",
      "/tmp",
    ],
    ...["--info-fd", String(FIRST_EXTRA_FD)],
    ...(filter === undefined ? [] : ["--seccomp", String(FIRST_EXTRA_FD + 1)]),
    ...["--as-pid-1", "--", program.command, ...program.args],
  ];
  return { command: bubblewrap, args, env: {}, descriptors: ["pid", ...(filter === undefined ? [] : [filter])] };
}

function systemMount(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
