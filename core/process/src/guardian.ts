import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { TREE, type ProcessTree } from "./process-tree.ts";

/**
 * Reads lines from its input. `+PID:SECONDS:MARK` and `+NAME` are a tree and a folder of temporary files, `-...` one that is gone. When the input ends, it ends
 * the trees that are left, by SIGTERM and after their seconds by SIGKILL, and removes the folders. Arguments: the directory of the folders, the variable of
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
      pid="\${entry%%:*}" seconds="\${entry#*:}" seconds="\${seconds%%:*}"
      [ "$seconds" -gt 0 ] && kill -s TERM -- "-$pid"
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

let guardian: { readonly child: ChildProcess; entries: number } | undefined;

/**
 * Ends a tree, or removes a folder of temporary files, after this process, should that end without having done so: also by SIGKILL. One process without
 * work guards all of them; its input ends with this process.
 * @param graceSeconds for a tree, from SIGTERM to SIGKILL; 0: SIGKILL alone
 * @returns a function that takes it back
 */
export function guard(entry: ProcessTree | { readonly folder: string }, graceSeconds = 0): () => void {
  if (process.platform === "win32") return () => undefined;
  guardian ??= { child: start(), entries: 0 };
  const own = guardian;
  own.entries++;
  const name = "folder" in entry ? entry.folder : `${entry.pid}:${graceSeconds}:${entry.mark}`;
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
  const child = spawn("/bin/sh", ["-c", SCRIPT, "mrlm-guardian", tmpdir(), TREE], {
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
