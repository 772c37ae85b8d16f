import { type ChildProcess, spawn } from "node:child_process";

/** Reads groups from its input, and kills those that are left when the input ends. */
const SCRIPT = `
groups=" "
while read -r change id; do
  case $change in
    +) groups="$groups$id " ;;
    -) groups="\${groups%% $id *} \${groups#* $id }" ;;
  esac
done
for id in $groups; do kill -s KILL -- "-$id"; done`;

/**
 * Kills the groups of this process if it ends without having done so, also by SIGKILL. It is a process of its own whose input ends with this one.
 */
export class Guardian {
  #process: ChildProcess | undefined;

  add(group: number): void {
    this.#process ??= this.#start();
    this.#process.stdin?.write(`+ ${group}\n`);
  }

  remove(group: number): void {
    this.#process?.stdin?.write(`- ${group}\n`);
  }

  /** Ends the guardian. All groups have been removed. */
  async close(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    child.ref();
    child.once("exit", () => resolve());
    child.stdin?.end();
    await promise;
  }

  #start(): ChildProcess {
    const child = spawn("/bin/sh", ["-c", SCRIPT], { detached: true, stdio: ["pipe", "ignore", "ignore"], env: {} });
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    // Without a shell there is no guardian. Servers still end with their input.
    child.on("error", () => undefined);
    child.stdin?.on("error", () => undefined);
    return child;
  }
}
