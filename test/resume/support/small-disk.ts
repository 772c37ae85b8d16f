import { spawnSync } from "node:child_process";

/** Place of the small file system. */
const PLACE = "/mnt";

/** Whether a file system of a given size can be made: bubblewrap is installed and may make one. */
export const canLimitDisk = jailed(4 << 20, PLACE, ["true"]).status === 0;

/** Program and arguments that run a command with `output` on a file system of so many bytes, and copy what is in it to `copy` at its end. */
export function smallDisk(bytes: number, copy: string): { readonly output: string; readonly jail: readonly string[] } {
  const script = 'copy=$1; shift; "$@"; code=$?; cp -a "$0/." "$copy"; exit $code';
  return { output: PLACE, jail: [...bubblewrap(bytes, PLACE), "sh", "-c", script, PLACE, copy] };
}

function jailed(bytes: number, place: string, command: readonly string[]): { readonly status: number | null } {
  const [program, ...args] = [...bubblewrap(bytes, place), ...command] as [string, ...string[]];
  return spawnSync(program, args);
}

function bubblewrap(bytes: number, place: string): string[] {
  return ["bwrap", "--dev-bind", "/", "/", "--size", String(bytes), "--tmpfs", place, "--"];
}
