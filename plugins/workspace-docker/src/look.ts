/** Process in a container. */
export interface Listed {
  readonly pid: number;
  /** 0 for one that the engine has started. */
  readonly parent: number;
  readonly session: number;
  /** Time of its start in ticks. */
  readonly start: number;
}

/** Processes of a container but its process 1, and what they have used together. */
export interface Look {
  readonly processes: readonly Listed[];
  /** Number of those of commands. */
  readonly commandProcesses: number;
  /** Processor time since the start of the container. */
  readonly cpuMs: number;
  /** Memory of programs. */
  readonly memoryBytes: number;
  /** Size of the files, all of which are in memory. */
  readonly diskBytes: number;
  /** Processes that the kernel has ended because the container had no memory. */
  readonly kills: number;
  /** Processes that could not start because the container had too many. */
  readonly refusedForks: number;
  /** Figures that the container does not have. */
  readonly missing: readonly string[];
}

/** Number of fields of /proc/PID/stat after the name of the program, at least. Source: proc_pid_stat(5). */
const FIELDS = 40;

/** Reads the answer of the supervisor: lines of /proc/PID/stat, then counters of the cgroup. */
export function lookOf(lines: readonly string[]): Look {
  const counters = new Map<string, number>();
  const processes: Listed[] = [];
  for (const line of lines) {
    const [, name, value] = /^\+(\w+) (\d+)$/.exec(line) ?? [];
    if (name !== undefined) counters.set(name, Number(value));
    const listed = name === undefined ? listedOf(line) : undefined;
    if (listed !== undefined) processes.push(listed);
  }
  const nanoseconds = counters.get("usage_nsec");
  const microseconds = counters.get("usage_usec");
  const figures = {
    cpuMs: nanoseconds === undefined ? microseconds && microseconds / 1e3 : nanoseconds / 1e6,
    memoryBytes: counters.get("anon") ?? counters.get("rss"),
    diskBytes: counters.get("shmem"),
    kills: counters.get("oom_kill"),
    refusedForks: counters.get("max"),
  };
  const missing = Object.entries(figures).flatMap(([name, value]) => (value === undefined ? [name] : []));
  return { ...(figures as Record<keyof typeof figures, number>), processes, commandProcesses: 0, missing };
}

/** Reads a line of /proc/PID/stat. A program chooses its name: one with a new line ends the line, and the process has no known origin. */
function listedOf(line: string): Listed | undefined {
  const pid = Number.parseInt(line, 10);
  if (!(pid > 1)) return undefined;
  // The name, in brackets, may contain any characters.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  if (fields.length < FIELDS) return { pid, parent: 1, session: 0, start: 0 };
  const [state, parent, , session] = fields;
  if (state === "Z" || state === "X") return undefined;
  return { pid, parent: Number(parent), session: Number(session), start: Number(fields[19]) };
}
