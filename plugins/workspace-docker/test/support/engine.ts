import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { DockerWorkspaces, type DockerWorkspacesOptions } from "../../src/docker-workspaces.ts";

/** Programs of the image. */
const PROGRAMS =
  "awk base64 basename bash cat chmod chown cmp cp cut date diff dirname env expr find git grep gzip head id kill ln ls md5sum mkdir mkfifo mktemp mv od printf python3 readlink rm sed seq setsid sh sha256sum sleep sort stat tail tar tee test touch tr true uniq wc xargs";
/** Name of the image in the engine of the tests. */
export const IMAGE = "mrlm-test:1";

/** Podman with a storage of its own, behind a socket. */
export interface Engine {
  readonly socket: string;
  /** Runs podman on the storage. */
  podman(...args: string[]): Promise<string>;
  /** Starts the service of the socket, or starts it again. */
  serve(): Promise<void>;
  /** Ends the service; containers run on. */
  halt(): Promise<void>;
  /** Returns the options of a provider over this engine. */
  options(more?: Partial<DockerWorkspacesOptions>): DockerWorkspacesOptions;
  make(more?: Partial<DockerWorkspacesOptions>): Promise<DockerWorkspaces>;
  /** Removes the containers and the storage. */
  close(): Promise<void>;
}

function found(name: string): string | undefined {
  return ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/** Reason why the tests have no engine; `undefined` where they have one. */
export const missingEngine: string | undefined = [
  ...(process.getuid?.() === 0 ? [] : ["not root"]),
  ...["podman", "runc"].flatMap((name) =>
    found(name) === undefined ? [`${name} is not installed (apt install podman runc)`] : [],
  ),
][0];

/** Starts an engine with an image of programs of this machine. */
export async function startEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-podman-"));
  const socket = join(folder, "podman.sock");
  const own = [
    ...["--root", join(folder, "storage"), "--runroot", join(folder, "run"), "--tmpdir", join(folder, "tmp")],
    ...["--runtime", found("runc") as string, "--cgroup-manager", "cgroupfs", "--events-backend", "file"],
  ];
  const run = promisify(execFile);
  // Podman keeps a process for each command, by default for five minutes after its end.
  const settings = join(folder, "containers.conf");
  writeFileSync(settings, "[engine]\nexit_command_delay = 10\n");
  const env = { ...process.env, CONTAINERS_CONF: settings };
  const podman = async (...args: string[]): Promise<string> => (await run("podman", [...own, ...args], { env })).stdout;
  let service: ChildProcess | undefined;
  const engine: Engine = {
    socket,
    podman,
    async serve() {
      service = spawn("podman", [...own, "system", "service", "--time", "0", `unix://${socket}`], {
        env,
        stdio: "ignore",
        // It writes a file where it is when the kernel ends a program.
        cwd: folder,
      });
      while (!(await answers(socket))) await delay(20);
    },
    async halt() {
      const ended = new Promise((resolve) => service?.once("exit", resolve));
      service?.kill("SIGKILL");
      await ended;
      rmSync(socket, { force: true });
    },
    options: (more = {}) => ({
      ...{ socket, image: IMAGE, limits: {}, count: 64, queue: 64, waitMs: 60_000, warm: 0 },
      ...{ folders: ["home", "logs", "mnt", "opt", "solution", "srv", "tests"], kept: join(folder, "kept"), ...more },
    }),
    make: (more) => DockerWorkspaces.make(engine.options(more)),
    async close() {
      await podman("rm", "--all", "--force", "--time", "0").catch(() => "");
      await engine.halt();
      await podman("system", "reset", "--force").catch(() => "");
      // Processes that Podman keeps for commands would make the storage again.
      for (let left = processesOf(folder); left.length > 0; left = processesOf(folder)) {
        for (const pid of left) end(pid);
        await delay(50);
      }
      // Podman mounts its storage over itself, again at some starts.
      const unmount = (): Promise<boolean> =>
        run("umount", ["--lazy", join(folder, "storage/overlay")]).then(
          () => true,
          () => false,
        );
      while (await unmount());
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const image = join(folder, "image");
  buildRoot(image);
  execFileSync("tar", ["-C", image, "-cf", join(folder, "image.tar"), "."]);
  await podman("import", join(folder, "image.tar"), IMAGE);
  await engine.serve();
  return engine;
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Returns the processes that were started with a path below a folder. */
function processesOf(folder: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const isBelow = /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "latin1").includes(`${folder}/`);
      return isBelow ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

async function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
}

/** Copies programs of this machine with their libraries, and the modules of Python. */
function buildRoot(root: string): void {
  for (const name of ["bin", "dev", "etc", "home", "proc", "root", "sys", "tmp", "usr/bin", "usr/share", "var"])
    mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:of the image:/root:/bin/sh\n");
  const programs = PROGRAMS.split(" ").flatMap((name) => found(name) ?? []);
  for (const path of programs)
    for (const folder of ["bin", "usr/bin"]) cpSync(realpathSync(path), join(root, folder, basename(path)));
  const [modules] = globSync("/usr/lib/python3.*");
  const filter = (path: string): boolean => !/\/(__pycache__|test|idlelib|lib2to3|dist-packages)(\/|$)/.test(path);
  if (modules !== undefined) cpSync(modules, join(root, modules), { recursive: true, filter, verbatimSymlinks: true });
  const linked = [...programs, ...globSync("/usr/lib/python3.*/lib-dynload/*.so")];
  const { stdout } = spawnSync("ldd", linked, { encoding: "utf8" });
  for (const path of new Set([...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, library]) => library as string))) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    cpSync(realpathSync(path), join(root, path));
  }
}
