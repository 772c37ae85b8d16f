import type { Duplex } from "node:stream";
import { type ExecResult, MrlmError, type WorkspaceLimits } from "@mrlm/spec";
import { ownerLabel } from "@mrlm/process";
import type Docker from "dockerode";
import { engineFailed, OWNER, remove, within } from "./engine.ts";
import { type Look, type Listed, lookOf } from "./look.ts";
import { SUPERVISOR } from "./scripts.ts";

/** User and group of programs: one that systems do not give, so that no file of an image or of the host is theirs. */
export const USER = "61000:61000";
/** Rights of the supervisor and of the copies of files, which are user 0. Programs have none. */
const RIGHTS = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL"];
/** Processes and memory of the supervisor, and of the reads of files. */
export const OWN_PROCESSES = 32;
export const OWN_BYTES = 32 * 2 ** 20;
/** File systems of a workspace hold together at most so many times the limit of one. */
export const DISK_FACTOR = 2;
const SHORTEST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;
/** Rounds in which processes are ended that start others meanwhile. */
const MAX_ROUNDS = 200;

/** Process that the engine has started in a container. */
export interface Command {
  readonly pid: number;
  /** Time of its start in ticks. */
  readonly start: number;
  /** The limits of commands hold for it. */
  readonly isLimited: boolean;
  readonly ended: Promise<unknown>;
  /** Returns the limit that the container has met since the command began. */
  limitAt(look: Look): ExecResult["limit"];
  /** Names the limit at which all processes end. */
  meet(limit: NonNullable<ExecResult["limit"]>): void;
  /** Takes notice that the process, or its container, has ended. */
  onGone(): void;
}

/** Settings of a container. Two with the same are equal. */
export interface ContainerSettings {
  readonly image: string;
  /** Absolute paths of the folders that programs may write to. */
  readonly folders: readonly string[];
  readonly limits: Pick<WorkspaceLimits, "memoryBytes" | "processes" | "diskBytes">;
  readonly socket: string | undefined;
}

/** Returns the options of a container whose process 1 runs a script as user 0, without a network, over a read-only image. */
export function containerOptions(
  image: string,
  script: string,
  args: readonly string[],
): Docker.ContainerCreateOptions {
  return {
    Image: image,
    Entrypoint: ["/bin/sh", "-c", script, "sh"],
    Cmd: [...args],
    User: "0:0",
    WorkingDir: "/",
    Hostname: "sandbox",
    Labels: { [OWNER]: ownerLabel() },
    Healthcheck: { Test: ["NONE"] },
    ...{ OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true },
    HostConfig: {
      AutoRemove: true,
      LogConfig: { Type: "none", Config: {} },
      NetworkMode: "none",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      CapAdd: RIGHTS,
      SecurityOpt: ["no-new-privileges"],
      Ulimits: [
        { Name: "core", Soft: 0, Hard: 0 },
        { Name: "nofile", Soft: 1024, Hard: 1024 },
        // Those of a user count in all its containers: the cgroup limits them.
        { Name: "nproc", Soft: 32_768, Hard: 32_768 },
      ],
    },
  };
}

/** Container of one workspace. Its supervisor lists and ends processes; a loop of this process compares them to the limits while commands run. */
export class Container {
  readonly engine: Docker.Container;
  readonly #stream: Duplex;
  readonly #settings: ContainerSettings;
  readonly #running = new Set<Command>();
  readonly #answers: { resolve(lines: string[]): void; reject(error: Error): void }[] = [];
  #owners = new Map<string, Command>();
  #pending = "";
  #lines: string[] = [];
  #printed = "";
  #failure: MrlmError | undefined;
  #isWatching = false;
  #pauseMs = SHORTEST_PAUSE_MS;
  #wake: () => void = () => undefined;

  private constructor(engine: Docker, container: Docker.Container, stream: Duplex, settings: ContainerSettings) {
    this.engine = container;
    this.#stream = stream;
    this.#settings = settings;
    const printed = (chunk: Buffer): void => void (this.#printed = (this.#printed + chunk.toString()).slice(-1000));
    demux(engine, stream, (chunk) => this.#receive(chunk.toString("latin1")), printed);
    stream.on("error", () => undefined).on("close", () => this.#fail());
    // Podman passes the body of the request to the process: a line that the supervisor does not know.
    stream.write("\n");
  }

  /** Rejects with SANDBOX_FAILED where the engine does not start it, or one of its limits is not in force. */
  static async start(engine: Docker, settings: ContainerSettings): Promise<Container> {
    const { image, folders, limits, socket } = settings;
    const { memoryBytes, processes, diskBytes } = limits;
    const options = containerOptions(image, SUPERVISOR, [USER, ...folders]);
    // File systems that are full leave programs their memory: also /run and /dev/shm.
    const memory = memoryBytes + (folders.length + 2) * diskBytes + OWN_BYTES;
    let made: Docker.Container | undefined;
    try {
      made = await within(
        engine.createContainer({
          ...options,
          HostConfig: {
            ...options.HostConfig,
            Memory: memory,
            MemorySwap: memory,
            PidsLimit: 2 * processes + OWN_PROCESSES,
            // Podman would have a file system without a limit at /run.
            Tmpfs: Object.fromEntries(
              [...folders, "/run"].map((path) => [path, `rw,exec,nosuid,nodev,size=${diskBytes},mode=755`]),
            ),
            ShmSize: diskBytes,
            Binds: socket === undefined ? [] : [`${socket}:/mrlm/socket`],
          },
        }),
      );
      const container = new Container(engine, made, await attach(made), settings);
      await within(made.start());
      const { missing } = await container.look();
      if (missing.length === 0) return container;
      throw new MrlmError(
        "SANDBOX_FAILED",
        `The container engine does not show ${missing.join(" and ")} of a container.`,
        {
          hint: "Containers need their own cgroup at /sys/fs/cgroup, with the controllers cpu, memory and pids.",
        },
      );
    } catch (error) {
      if (made !== undefined) await remove(made).catch(() => undefined);
      throw engineFailed("A container could not be started", error);
    }
  }

  /** Reason why nothing can run in it. */
  get failure(): MrlmError | undefined {
    return this.#failure;
  }

  /** Lists processes, and what they use together; `stop`: while they stand still, from now on. Rejects with SANDBOX_FAILED after the end of the container. */
  async look(verb: "look" | "stop" = "look"): Promise<Look> {
    const look = lookOf(await this.#ask(verb));
    const processes = new Map(look.processes.map((each) => [each.pid, each]));
    const owners = new Map<string, Command>();
    for (const each of look.processes) {
      const owner = this.#ownerOf(each, processes);
      if (owner !== undefined) owners.set(keyOf(each), owner);
    }
    this.#owners = owners;
    for (const each of this.#running) if (!processes.has(each.pid)) each.onGone();
    const ofCommands = look.processes.filter((each) => owners.get(keyOf(each))?.isLimited ?? each.parent !== 0);
    return { ...look, commandProcesses: ofCommands.length };
  }

  /** Lists the processes that a command has started, first its own. */
  async processesOf(command: Command): Promise<number[]> {
    const { processes } = await this.look();
    const own = processes.filter((each) => this.#owners.get(keyOf(each)) === command).map(({ pid }) => pid);
    return [...own.filter((pid) => pid === command.pid), ...own.filter((pid) => pid !== command.pid)];
  }

  async signal(name: "SIGINT" | "SIGKILL", pids: readonly number[]): Promise<void> {
    if (pids.length > 0) await this.#ask(`${name} ${pids.join(" ")}`);
  }

  /** Watches a command from now on. */
  add(command: Command): void {
    this.#running.add(command);
    this.hasten();
  }

  /** Looks often again, because a command has begun. */
  hasten(): void {
    this.#pauseMs = SHORTEST_PAUSE_MS;
    if (this.#isWatching) this.#wake();
    else void this.#watch();
  }

  /** Ends the processes of a command, and those that may be its: later ones of which no command is known to be the origin. */
  async end(command: Command): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      try {
        const left = await this.#leftOf(command);
        if (left.length === 0) return;
        await this.signal("SIGKILL", left);
      } finally {
        if (command.isLimited) await this.#ask("SIGCONT -1");
      }
    }
    throw new MrlmError("SANDBOX_FAILED", "The processes of a command could not be ended.");
  }

  /** Lists the processes that end with a command: while all stand still, so that none starts another. The reads of this package have only their own. */
  async #leftOf(command: Command): Promise<number[]> {
    const { processes } = await this.look(command.isLimited ? "stop" : "look");
    const left = processes.filter((each) => {
      const owner = this.#owners.get(keyOf(each));
      if (owner !== undefined || !command.isLimited || each.parent === 0) return owner === command;
      return each.start === 0 || each.start >= command.start;
    });
    return left.map(({ pid }) => pid);
  }

  /** Ends all processes but the supervisor. */
  async endAll(): Promise<void> {
    await this.#ask("SIGKILL -1");
    await Promise.all([...this.#running].map(({ ended }) => ended));
  }

  forget(command: Command): void {
    this.#running.delete(command);
  }

  async close(): Promise<void> {
    try {
      await remove(this.engine);
      await Promise.all([...this.#running].map(({ ended }) => ended));
    } finally {
      // Process 1 ends with its input, also where the engine did not end it.
      this.#stream.destroy();
    }
  }

  /** A process belongs to the command that it belonged to before, to that of its session, or to that of its parent. */
  #ownerOf(process: Listed | undefined, all: ReadonlyMap<number, Listed>, depth = 0): Command | undefined {
    if (process === undefined || depth > all.size) return undefined;
    const known = this.#owners.get(keyOf(process));
    if (known !== undefined) return known;
    const leader = [...this.#running].find(({ pid }) => pid === process.pid || pid === process.session);
    return leader ?? this.#ownerOf(all.get(process.parent), all, depth + 1);
  }

  /** At a limit all processes end together: one that starts others cannot be faster. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    try {
      while ([...this.#running].some(({ isLimited }) => isLimited)) {
        const look = await this.look();
        const met = [...this.#running].map((each) => each.limitAt(look)).find((limit) => limit !== undefined);
        if (met !== undefined) {
          for (const each of this.#running) each.meet(met);
          await this.#ask("SIGKILL -1");
        }
        await this.#pause();
        this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 1.5);
      }
    } catch {
      // The container has ended, and its commands with it.
    }
    this.#isWatching = false;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#pauseMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #ask(line: string): Promise<string[]> {
    if (this.#failure !== undefined) throw this.#failure;
    const answer = new Promise<string[]>((resolve, reject) => {
      this.#answers.push({ resolve, reject });
      this.#stream.write(`${line}\n`);
    });
    return within(answer).catch((error: unknown) => {
      // Process 1 answers in order: none of the later ones would come.
      this.#stream.destroy();
      throw error;
    });
  }

  #receive(text: string): void {
    const lines = (this.#pending + text).split("\n");
    this.#pending = lines.pop() as string;
    for (const line of lines) {
      if (line !== ".") this.#lines.push(line);
      else this.#answers.shift()?.resolve(this.#lines.splice(0));
    }
  }

  #fail(): void {
    const printed = this.#printed.trim();
    this.#failure ??= new MrlmError(
      "SANDBOX_FAILED",
      `The container of a workspace of the image ${this.#settings.image} has ended${printed === "" ? "" : `: ${printed}`}.`,
      {
        hint: "It was removed, killed for memory of the machine, or the engine was restarted: look at the log of Docker or Podman.",
      },
    );
    for (const { reject } of this.#answers.splice(0)) reject(this.#failure);
    for (const each of this.#running) each.onGone();
  }
}

/** Connects to the input and outputs of process 1. */
export function attach(container: Docker.Container): Promise<Duplex> {
  const streams = { stream: true, hijack: true, stdin: true, stdout: true, stderr: true };
  return hijack(async (abortSignal) => (await container.attach({ ...streams, abortSignal })) as Duplex);
}

/** Opens a stream in both directions. Closes the connection where the engine refuses: the client would wait for the end of the input. */
export async function hijack(open: (abortSignal: AbortSignal) => Promise<Duplex>): Promise<Duplex> {
  const abort = new AbortController();
  return within(open(abort.signal)).catch((error: unknown) => {
    abort.abort();
    throw error;
  });
}

/** Separates the two outputs of a hijacked stream. */
export function demux(
  engine: Docker,
  stream: Duplex,
  onStdout: (chunk: Buffer) => void,
  onStderr: (chunk: Buffer) => void,
): void {
  const [stdout, stderr] = [onStdout, onStderr].map((write) => ({ write }) as unknown as NodeJS.WritableStream);
  engine.modem.demuxStream(stream, stdout as NodeJS.WritableStream, stderr as NodeJS.WritableStream);
}

/** A process id may be used again: by a process that starts later. */
function keyOf({ pid, start }: Listed): string {
  return `${pid} ${start}`;
}
