import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { MrlmError } from "@mrlm/spec";
import { jailLaunch, ROOT } from "../jail/bubblewrap.ts";
import { findCommand } from "../jail/find-command.ts";
import type { Launch } from "../jail/launch.ts";
import { spawnLaunch } from "../jail/spawn-launch.ts";
import { O_PATH } from "./tree-files.ts";

/** Files and folders of a file system in memory, each of which takes about a kilobyte of the kernel. */
const FILES = 262_144;
/** Environment of programs of the host. */
const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
const START_MS = 60_000;
const STDERR_TAIL = 2000;

/**
 * Mounts a file system in memory at $1 with $2 bytes, then what the lines of its input name, each answered by a line with 0 or an error code. The file systems
 * exist until its input ends and the last program in them has ended. Before it limits the buffers of connections, which are memory of the kernel, and what one user of the host
 * may watch: the limits of its namespaces end before those of the user, whom other workspaces and the host need.
 */
const SCRIPT = `
for name in rmem wmem; do echo "4096 131072 212992" >/proc/sys/net/ipv4/tcp_$name; done 2>/dev/null
for each in instances=16 watches=8192; do echo \${each#*=} >/proc/sys/user/max_inotify_\${each%=*}; done 2>/dev/null
mount -t tmpfs -o "size=$2,nr_inodes=$3,mode=755" tmpfs "$1" && cd "$1" && mkdir tree shm upper work || exit 1
echo 0
while read -r verb value; do
  case $verb in
    size) mount -o "remount,size=$value" tmpfs "$1" ;;
    overlay) mount -t overlay -o "lowerdir=$value,upperdir=upper,workdir=work,userxattr" overlay tree ;;
    copy) cp -a -- "$value/." tree ;;
  esac
  echo $?
done`;

/** Programs of the host that make a workspace. */
export interface HolderTools {
  readonly bubblewrap: string;
  readonly mount: string;
  readonly nsenter: string;
}

/** Finds the programs. Throws SANDBOX_FAILED for a missing one. */
export function holderTools(bubblewrap: string): HolderTools {
  const find = (name: string): string => {
    const path = findCommand(name);
    if (path !== undefined) return path;
    throw new MrlmError("SANDBOX_FAILED", `Workspaces need the command ${name}, which is not installed.`, {
      hint: "Install util-linux and tar (Debian, Ubuntu: apt install util-linux mount tar).",
    });
  };
  find("tar");
  return { bubblewrap, mount: find("mount"), nsenter: find("nsenter") };
}

/**
 * Namespaces with the files of one workspace: a file system in memory, which limits their size, and over it the overlay of an image. Programs of the workspace
 * run in jails within them. It ends with this process, and nothing of it remains on disk.
 */
export class Holder {
  readonly #tools: HolderTools;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #replies: AsyncIterator<string>;
  readonly #pid: Promise<number>;
  #stderr = "";
  #held = 0;
  #tree: number | undefined;
  #hasOverlay = false;

  private constructor(tools: HolderTools, folder: string, diskBytes: number) {
    this.#tools = tools;
    this.#folder = folder;
    const started = spawnLaunch(
      jailLaunch(tools.bubblewrap, {
        files: ["--dev-bind", "/", "/"],
        env: ENVIRONMENT,
        command: ["/bin/sh", "-c", SCRIPT, "sh", folder, String(diskBytes), String(FILES)],
        user: ROOT,
        capabilities: ["--cap-add", "ALL"],
        filter: undefined,
        isFirst: true,
      }),
      ["pipe", "pipe", "pipe", "ignore", "ignore"],
    );
    this.#process = started.process;
    this.#pid = started.pid;
    this.#process.on("error", () => undefined);
    this.#process.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_TAIL);
    });
    this.#replies = createInterface({ input: started.process.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  /** @param folder an empty one, over which each holder mounts its own file system */
  static async start(tools: HolderTools, folder: string, diskBytes: number): Promise<Holder> {
    const holder = new Holder(tools, folder, diskBytes);
    try {
      await holder.#reply("A file system in memory could not be mounted in a user namespace");
      holder.#held = await holder.#pid;
      return holder;
    } catch (error) {
      await holder.close();
      throw error;
    }
  }

  /** Descriptor of the root folder of the workspace. */
  get tree(): number {
    try {
      this.#tree ??= openSync(`/proc/${this.#held}/cwd/tree`, O_PATH | constants.O_DIRECTORY);
      return this.#tree;
    } catch (error) {
      throw failed("The files of a workspace are gone", (error as Error).message);
    }
  }

  /** Whether the root folder shows an image, and changes are in the folder `upper`. */
  get hasOverlay(): boolean {
    return this.#hasOverlay;
  }

  /** Path of a folder of the workspace, which programs in the namespaces see. */
  path(name: "tree" | "shm" | "upper"): string {
    return join(this.#folder, name);
  }

  async resize(diskBytes: number): Promise<void> {
    await this.#ask(`size ${diskBytes}`, "The limit of the disk could not be set");
  }

  /** Shows a folder as the root folder, to which changes are written apart. Returns false where this kernel cannot. */
  async overlay(image: string): Promise<boolean> {
    return this.#ask(`overlay ${image}`, "").then(
      () => (this.#hasOverlay = true),
      () => false,
    );
  }

  /** Copies a folder to the root folder. */
  async copy(image: string): Promise<void> {
    await this.#ask(`copy ${image}`, `The image ${image} could not be copied`);
  }

  /** Returns a command that runs in the namespaces. It has limits of the kernel: the size of a file, open files, no core dump. */
  enter(launch: Launch, fileBytes: number): Launch {
    const script = `ulimit -c 0 && ulimit -n 1024 && ulimit -f ${Math.floor(fileBytes / 512)} && exec "$@"`;
    return { ...launch, command: "/bin/sh", args: ["-c", script, "sh", ...this.#inside(launch.command, launch.args)] };
  }

  /** Runs tar in the namespaces, with a file as its output or input. */
  async tar(args: readonly string[], stdio: { readonly input?: number; readonly output?: number }): Promise<void> {
    const [command, ...rest] = this.#inside("tar", args) as [string, ...string[]];
    const child = spawn(command, rest, {
      env: ENVIRONMENT,
      stdio: [stdio.input ?? "ignore", stdio.output ?? "ignore", "pipe"],
    });
    const [printed, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, "close")]);
    // 1: a file changed while it was read, by a process of the workspace.
    if (code !== 0 && code !== 1) throw failed("The files of a workspace could not be copied", printed);
  }

  async close(): Promise<void> {
    if (this.#tree !== undefined) closeSync(this.#tree);
    this.#tree = undefined;
    const { exitCode, signalCode, pid } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const end = once(this.#process, "exit");
    this.#process.stdin?.end();
    this.#process.kill("SIGKILL");
    await end;
  }

  #inside(command: string, args: readonly string[]): string[] {
    const target = ["--target", String(this.#held), "--user", "--mount", "--net", "--preserve-credentials"];
    return [this.#tools.nsenter, ...target, "--", command, ...args];
  }

  async #ask(line: string, fault: string): Promise<void> {
    this.#process.stdin?.write(`${line}\n`);
    await this.#reply(fault);
  }

  async #reply(fault: string): Promise<void> {
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), START_MS);
    const { value } = await this.#replies.next();
    clearTimeout(timer);
    if (value === "0") return;
    const printed = this.#stderr;
    this.#stderr = "";
    throw failed(fault, printed);
  }
}

function failed(fault: string, printed: string): MrlmError {
  return new MrlmError("SANDBOX_FAILED", `${fault}${printed === "" ? "" : `: ${printed.trim()}`}.`, {
    hint: "The user must be allowed to make namespaces, and mounts in them: the sandboxes guide describes how to allow it on a machine or in a container.",
  });
}
