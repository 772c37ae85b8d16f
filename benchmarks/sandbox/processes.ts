import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs a program in a separate interpreter and reads its exit code; throws if that is not 0. */
export async function runProcess(command: string, args: readonly string[], program: string): Promise<void> {
  const child = spawn(command, [...args, "-"], { env: {}, stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.on("error", () => {});
  child.stdin.end(program);
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`a reference solution fails its tests in ${command}`);
}

/** Returns the bubblewrap arguments for an interpreter, with the isolation layers of the sandbox's jail: own namespaces, a read-only system, an empty /tmp. */
export function bubblewrapArgs(python: string, folders: readonly string[]): string[] {
  const system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"];
  return [
    ...["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
    ...[...system, python, ...folders].flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp", "--", python, "-I", "-S"],
  ];
}
