import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";
import type { ChildProgram } from "../program/child-program.ts";
import { FIRST_EXTRA_FD, type Launch } from "./launch.ts";
import { seccompFilter } from "./seccomp.ts";

/** Parts of a bubblewrap jail that not every machine allows. */
export interface BubblewrapOptions {
  readonly seccomp: boolean;
  /** A /proc of its own; some containers forbid it. */
  readonly proc: boolean;
}

/** Nobody: inside, the user of the same id owns nothing. */
const NOBODY = "65534";
/** Of the jail's own user namespace: for another id bubblewrap makes a second one inside, which does not own the jail's other namespaces. */
const ROOT = "0";
const TMP_BYTES = 64 * 1024 * 1024;

/** What a dynamically linked program needs of the system. */
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
 * The program in namespaces of its own for users, mounts, processes, IPC, network, host name and control groups, as a user without rights; a
 * file system of the system's libraries and the program's mounts, read-only, with an empty /tmp; behind a filter of system calls. It
 * dies with this process.
 */
export function bubblewrapLaunch(
  bubblewrap: string,
  program: ChildProgram,
  { seccomp, proc }: BubblewrapOptions,
): Launch {
  const filter = seccomp
    ? seccompFilter({ forks: program.forks === true, namespaces: program.namespaces === true })
    : undefined;
  const user = program.namespaces === true ? ROOT : NOBODY;
  const args = [
    ...["--unshare-all", "--unshare-user", "--uid", user, "--gid", user, "--hostname", "sandbox"],
    ...["--die-with-parent", "--new-session", "--clearenv"],
    ...(program.namespaces === true ? ["--cap-add", "CAP_SYS_ADMIN"] : ["--cap-drop", "ALL"]),
    ...Object.entries(program.env ?? {}).flatMap(([name, value]) => ["--setenv", name, value]),
    ...SYSTEM.flatMap(systemMount),
    ...program.mounts.flatMap(({ source, target }) => ["--ro-bind", source, target]),
    ...(program.links ?? []).flatMap(({ target, path }) => ["--dir", dirname(path), "--symlink", target, path]),
    ...(proc ? ["--proc", "/proc"] : []),
    // Nothing can be written but in /tmp: a file in /dev would take memory that counts toward no limit, and would be there for the next submission.
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
