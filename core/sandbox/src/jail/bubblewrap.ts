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
export const ROOT = "0";
const TMP_BYTES = 64 * 1024 * 1024;

/** System folders that a dynamically linked program needs. */
const LIBRARIES = [
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
 * Arguments for /proc. It is read-only: the kernel permits its settings to user 0 of the host by the id alone, and bubblewrap covers only what the user could
 * replace. Lists of the keys that the kernel keeps for the user are hidden: they would be those of the host.
 */
export const PROC = [
  ...["--proc", "/proc", "--remount-ro", "/proc"],
  ...["/proc/keys", "/proc/key-users"].filter(existsSync).flatMap((path) => ["--ro-bind", "/dev/null", path]),
];

/** Parts of a jail in which programs differ. */
export interface JailParts {
  /** Files and devices of the jail, as arguments of bubblewrap. */
  readonly files: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** User id in the jail. */
  readonly user: string;
  /** Rights of the program over the jail's own namespaces. */
  readonly capabilities: readonly string[];
  /** Filter of system calls. */
  readonly filter: Buffer | undefined;
  /** Whether the program is process 1 and reaps orphans. */
  readonly isFirst: boolean;
  /** Whether it has the network namespace of the process that starts it. */
  readonly sharesNetwork?: boolean;
  /** Whether it waits until it is started, so that its limits are watched before it runs. */
  readonly waits?: boolean;
}

/** Returns the command of a jail: separate namespaces for users, mounts, processes, IPC, network, host name and control groups. It ends with this process. */
export function jailLaunch(bubblewrap: string, parts: JailParts): Launch {
  const { files, env, command, user, capabilities, filter, isFirst, sharesNetwork = false, waits = false } = parts;
  const filters = filter === undefined ? [] : [filter];
  const args = [
    ...["--unshare-all", "--unshare-user", ...(sharesNetwork ? ["--share-net"] : [])],
    ...["--uid", user, "--gid", user, "--hostname", "sandbox", "--die-with-parent", "--new-session", "--clearenv"],
    ...capabilities,
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...files,
    ...["--info-fd", String(FIRST_EXTRA_FD)],
    ...filters.flatMap(() => ["--seccomp", String(FIRST_EXTRA_FD + 1)]),
    ...(waits ? ["--block-fd", String(FIRST_EXTRA_FD + 1 + filters.length)] : []),
    ...(isFirst ? ["--as-pid-1"] : []),
    ...["--", ...command],
  ];
  return {
    command: bubblewrap,
    args,
    env: {},
    descriptors: ["pid", ...filters, ...(waits ? (["start"] as const) : [])],
  };
}

/**
 * Runs a program in a jail as an unprivileged user. Its file system has the system's libraries and the program's mounts, read-only, and an empty /tmp. A
 * filter refuses system calls.
 */
export function bubblewrapLaunch(
  bubblewrap: string,
  program: ChildProgram,
  { seccomp, proc }: BubblewrapOptions,
): Launch {
  const namespaces = program.namespaces === true;
  return jailLaunch(bubblewrap, {
    files: [
      ...LIBRARIES.flatMap(systemMount),
      ...program.mounts.flatMap(({ source, target }) => ["--ro-bind", source, target]),
      ...(program.links ?? []).flatMap(({ target, path }) => ["--dir", dirname(path), "--symlink", target, path]),
      ...(proc ? PROC : []),
      // Only /tmp is writable: a file in /dev would take memory that no limit counts, and the next submission could read it.
      ...["--dev", "/dev", "--remount-ro", "/dev"],
      ...["--size", String(program.tmpBytes ?? TMP_BYTES), "--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", "/tmp"],
    ],
    env: program.env ?? {},
    command: [program.command, ...program.args],
    user: namespaces ? ROOT : UNPRIVILEGED,
    capabilities: namespaces ? ["--cap-add", "CAP_SYS_ADMIN"] : ["--cap-drop", "ALL"],
    filter: seccomp ? seccompFilter({ forks: program.forks === true, namespaces }) : undefined,
    isFirst: true,
  });
}

/** Returns the arguments that show a system folder of the host, or the link in its place, read-only. */
export function systemMount(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
