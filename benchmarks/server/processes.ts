/** Server processes of the benchmark: `mrlm serve`, OpenEnv and the bare echo. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const PLUGIN = "@mrlm/benchmark-server";
const NODE_FLAGS = ["--conditions=mrlm-source", "--disable-warning=ExperimentalWarning"];
/** Plugin for programs that clients send. */
const SANDBOX = { "@mrlm/sandbox-python": join(root, "plugins/sandbox-python") };
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Running server. */
export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts `mrlm serve` in a project with the plugin of the benchmark. */
export function serveOurs(...flags: string[]): Promise<ServerProcess> {
  return serve("address", flags);
}

/** Starts `mrlm serve` with an HTTP port for the echo alone, which is the port of the result, and a sandbox. */
export function serveOurHttp(...flags: string[]): Promise<ServerProcess> {
  return serve("http", ["--http-port", "echo@1=0", ...flags]);
}

/** @param field of the event `listening` with the address of the result */
async function serve(field: "address" | "http", flags: readonly string[]): Promise<ServerProcess> {
  const project = mkdtempSync(join(tmpdir(), "mrlm-bench-server-"));
  mkdirSync(join(project, "node_modules/@mrlm"), { recursive: true });
  const plugins = { [PLUGIN]: here("environment"), ...(field === "http" && SANDBOX) };
  for (const [name, folder] of Object.entries(plugins)) symlinkSync(folder, join(project, "node_modules", name));
  const dependencies = Object.fromEntries(Object.keys(plugins).map((name) => [name, "*"]));
  writeFileSync(join(project, "package.json"), JSON.stringify({ dependencies }));
  const main = join(root, "core/cli/src/main.ts");
  const args = [...NODE_FLAGS, ...nodeFlags(), main, "serve", "--json", "--port", "0", ...flags];
  const server = await start(process.execPath, args, {
    directory: project,
    portOf: (line) => {
      if (!line.startsWith("{")) return undefined;
      const event = JSON.parse(line) as { event: string; address?: string; http?: string };
      return event.event === "listening" ? Number(event[field]?.split(":").at(-1)) : undefined;
    },
  });
  return {
    ...server,
    async stop() {
      await server.stop();
      rmSync(project, { recursive: true });
    },
  };
}

/** Starts the echo without sessions, leases and guard: what grpc-js and the codec allow. */
export function serveBareEcho(): Promise<ServerProcess> {
  return start(process.execPath, [...NODE_FLAGS, here("bare-echo.ts")]);
}

/** Starts OpenEnv's server with an environment of synchronous or asynchronous methods. */
export function serveOpenEnv(python: string, kind: "sync" | "async", maxSessions: number): Promise<ServerProcess> {
  return start(python, [here("openenv/echo_server.py"), kind, String(maxSessions)]);
}

/** Returns OpenEnv's Python, made on the first run. */
export function openEnvPython(enginePython: string): string {
  const script = join(root, "benchmarks/train/peers/setup_environment.py");
  const output = execFileSync(enginePython, [script, "--requirements", here("openenv/requirements.txt")], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return output.trim().split("\n").at(-1) as string;
}

/** Resident memory of a process, in MiB. */
export function memoryMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Peak of the resident memory of a process, in MiB. */
export function peakMemoryMib(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Flags of Node for the measured server, for example `--cpu-prof --cpu-prof-dir=DIRECTORY`. */
function nodeFlags(): string[] {
  return (process.env["SERVER_NODE_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "");
}

async function start(
  command: string,
  args: readonly string[],
  {
    directory = root,
    portOf = Number,
  }: { readonly directory?: string; readonly portOf?: (line: string) => number | undefined } = {},
): Promise<ServerProcess> {
  const child = spawn(command, args, { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
  // Also after an error of the benchmark.
  process.once("exit", () => child.kill("SIGKILL"));
  const port = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command} ${args.join(" ")} ended with code ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = portOf(line);
      if (found !== undefined) resolve(found);
    });
  });
  return { pid: child.pid as number, port, stop: () => ended(child) };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
  await exit;
  clearTimeout(timer);
}
