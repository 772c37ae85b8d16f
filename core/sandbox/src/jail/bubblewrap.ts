import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";
import type { ChildProgram } from "../program/child-program.ts";
import type { Launch } from "./launch.ts";

/** First descriptor that is the wrapper's. 3 and 4 are the child's. */
const FIRST_EXTRA_FD = 5;

/** What a dynamically linked program needs of the system. */
const SYSTEM = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"];

/**
 * The program in namespaces of its own for users, mounts, processes, IPC, network, host name and control groups, as an unprivileged user without
 * capabilities; a file system of the system's libraries and the program's mounts, read-only, with an empty /tmp of `tmpBytes`.
 * It dies with this process.
 */
export function bubblewrapLaunch(bubblewrap: string, program: ChildProgram, options: { readonly seccomp?: number; readonly tmpBytes: number }): Launch {
  const { seccomp, tmpBytes } = options;
  const args = [
    "--unshare-all",
    "--unshare-user",
    "--uid",
    "65534",
    "--gid",
    "65534",
    "--hostname",
    "sandbox",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--clearenv",
    ...Object.entries(program.env ?? {}).flatMap(([name, value]) => ["--setenv", name, value]),
    ...SYSTEM.flatMap(systemMount),
    ...program.mounts.flatMap(({ source, target }) => ["--ro-bind", source, target]),
    ...(program.links ?? []).flatMap(({ target, path }) => ["--dir", dirname(path), "--symlink", target, path]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--size",
    String(tmpBytes),
    "--tmpfs",
    "/tmp",
    "--remount-ro",
    "/",
    "--chdir",
    "/tmp",
    "--info-fd",
    String(FIRST_EXTRA_FD),
    ...(seccomp === undefined ? [] : ["--seccomp", String(FIRST_EXTRA_FD + 1)]),
    // One that forks leaves orphans behind, which bubblewrap's own first process takes up.
    ...(program.forks === true ? [] : ["--as-pid-1"]),
    "--",
    program.command,
    ...program.args,
  ];
  return { command: bubblewrap, args, env: {}, extraFds: ["pipe", ...(seccomp === undefined ? [] : [seccomp])], pidFd: 0 };
}

function systemMount(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
