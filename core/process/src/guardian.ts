import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { GUARDIAN, type ProcessTree, TREE } from "./process-tree.ts";

/**
 * Reads lines from its input. `+PID:SECONDS:SIGNAL:MARK` and `+NAME` are a tree and a folder of temporary files, `-...` one that is gone. When the input ends, it ends
 * the trees that are left, by their signal and after their seconds by SIGKILL, and removes the folders. Arguments: the directory of the folders, the variable of
 * the marks.
 */
const SCRIPT = `
left=" "
while read -r line; do
  entry="\${line#?}"
  case $line in
    +*) left="$left$entry " ;;
    -*) left="\${left%% $entry *} \${left#* $entry }" ;;
  esac
done
exec 2>/dev/null
trees="" folders="" longest=0
for entry in $left; do
  case $entry in
    *:*) trees="$trees $entry"
      pid="\${entry%%:*}" rest="\${entry#*:}" seconds="\${rest%%:*}" rest="\${rest#*:}"
      [ "$seconds" -gt 0 ] && kill -s "\${rest%%:*}" -- "-$pid"
      [ "$seconds" -gt "$longest" ] && longest="$seconds" ;;
    */*|.*) ;;
    *) folders="$folders $entry" ;;
  esac
done
until [ "$longest" -le 0 ]; do
  runs=""
  for entry in $trees; do kill -s 0 -- "-\${entry%%:*}" && runs=1; done
  [ -z "$runs" ] && break
  sleep 1
  longest=$((longest - 1))
done
for entry in $trees; do kill -s KILL -- "-\${entry%%:*}"; done
for round in 1 2 3; do
  for entry in $trees; do
    for file in $(grep -lzE "^$2=\${entry##*:}(/|$)" /proc/[0-9]*/environ); do
      pid="\${file#/proc/}"; kill -s KILL "\${pid%/environ}"
    done
  done
done
for entry in $folders; do rm -rf -- "$1/$entry"; done`;

/** Time of a tree whose owner was killed. Its leader has got the end of its input already. */
export interface OrphanGrace {
  readonly seconds: number;
  readonly signal?: "SIGTERM";
}

let guardian: { readonly child: ChildProcess; entries: number } | undefined;

/**
 * Ends a tree, or removes a folder of temporary files, after this process, should that end without having done so: also by SIGKILL. One process without
 * work guards all of them; its input ends with this process.
 * @param grace for a tree: seconds before SIGKILL, and the signal with which they begin. Default: SIGKILL at once
 * @returns a function that takes it back
 */
export function guard(
  entry: ProcessTree | { readonly folder: string },
  grace: OrphanGrace = { seconds: 0 },
): () => void {
  if (process.platform === "win32") return () => undefined;
  guardian ??= { child: start(), entries: 0 };
  const own = guardian;
  own.entries++;
  const name =
    "folder" in entry
      ? entry.folder
      : `${entry.pid}:${grace.seconds}:${grace.signal?.slice("SIG".length) ?? 0}:${entry.mark}`;
  own.child.stdin?.write(`+${name}\n`);
  return () => {
    own.child.stdin?.write(`-${name}\n`);
    own.entries--;
    if (own.entries > 0) return;
    own.child.stdin?.end();
    if (guardian === own) guardian = undefined;
  };
}

function start(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", SCRIPT, GUARDIAN, tmpdir(), TREE], {
    // Ctrl-C reaches the whole foreground group.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env["PATH"] },
  });
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  // Without a shell there is none. What it guards still ends with this process, unless that is killed.
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  child.on("exit", () => {
    if (guardian?.child === child) guardian = undefined;
  });
  return child;
}
