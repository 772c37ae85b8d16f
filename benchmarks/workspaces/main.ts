// Times of workspaces on this machine, as one line of JSON: npm run bench -- workspaces [--count N] [--image FOLDER]
import { execFile, execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs, promisify } from "node:util";
import type { Workspace } from "@mrlm/spec";
import { LocalWorkspaces } from "@mrlm/sandbox";
import { IMAGE, missingEngine, startEngine } from "../../plugins/workspace-docker/test/support/engine.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "60" },
    /** Root folder of an image. Default: the host's system folders, under an overlay. */
    image: { type: "string", default: "/usr" },
    json: { type: "boolean", default: false },
  },
});
const count = Number(values.count);
const images = { base: async () => values.image };

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function median(times: readonly number[]): number {
  return Number((times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number).toFixed(2));
}

async function repeat(times: number, work: (at: number) => Promise<unknown>): Promise<number> {
  const all: number[] = [];
  for (let at = 0; at < times; at++) all.push(await timed(() => work(at)));
  return median(all);
}

/** Returns the resident memory of this process and all below it in MiB. */
function residentMib(): number {
  const bytesOf = (pid: string): number => {
    try {
      const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
      const threads = readdirSync(`/proc/${pid}/task`);
      const lists = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/children`, "latin1"));
      return lists
        .flatMap((list) => list.split(" ").filter(Boolean))
        .reduce((sum, id) => sum + bytesOf(id), pages * 4096);
    } catch {
      return 0;
    }
  };
  return Math.round(bytesOf(String(process.pid)) / 2 ** 20);
}

/** Returns the times of Podman, over an image of some programs of this machine, which is smaller than the base of the workspaces; none where it does not run. */
async function podmanTimes(): Promise<{ readonly podman_open_p50_ms?: number; readonly podman_exec_p50_ms?: number }> {
  if (missingEngine !== undefined) {
    console.error(`without Podman: ${missingEngine}`);
    return {};
  }
  const engine = await startEngine();
  try {
    const times = Math.ceil(count / 6);
    // The defaults of Podman are refused to a process that may not raise its limits.
    const limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"];
    const start = (at: number): Promise<string> =>
      engine.podman("run", "--detach", ...limits, "--network", "none", "--name", `bench${at}`, IMAGE, "sleep", "600");
    const podman_open_p50_ms = await repeat(times, start);
    return {
      podman_open_p50_ms,
      podman_exec_p50_ms: await repeat(times, () => engine.podman("exec", "bench0", "true")),
    };
  } finally {
    await engine.close();
  }
}

const pooled = await LocalWorkspaces.make({ warm: 4, images });
const opened: Workspace[] = [];
const open_p50_ms = await repeat(count, async () => {
  opened.push(await pooled.open({ image: "base" }));
});
for (const workspace of opened.splice(0)) await workspace.close();

const plain = await LocalWorkspaces.make({ images });
const wave = async (): Promise<void> => {
  const workspaces = await Promise.all(Array.from({ length: 2 }, () => plain.open({ image: "base" })));
  await Promise.all(workspaces.map((workspace) => workspace.close()));
};
const seconds =
  (await timed(async () => {
    for (let at = 0; at < count / 2; at++) await wave();
  })) / 1000;

const workspace = await plain.open({ files: { "src/a.txt": "x".repeat(10_000) } });
const exec_p50_ms = await repeat(count, () => workspace.exec("true"));
const bare = [
  "--unshare-all",
  "--ro-bind",
  "/",
  "/",
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--",
  "/bin/sh",
  "-c",
  "true",
];
const bwrap_p50_ms = await repeat(count, () => promisify(execFile)("bwrap", bare));
const shell = await workspace.shell();
const shell_p50_ms = await repeat(count, () => shell.run("true"));
const names: string[] = [];
const snapshot_p50_ms = await repeat(20, async () => names.push(await workspace.snapshot()));
const restore_p50_ms = await repeat(20, (at) => workspace.restore(names[at] as string));

const before = residentMib();
const many = await Promise.all(Array.from({ length: 200 }, () => plain.open()));
const echoes = await Promise.all(many.map(async (each) => (await each.exec("echo on")).exitCode));
const rss_mib = residentMib() - before;
const ended = await timed(async () => Promise.all([pooled.close(), plain.close()]));

const podman = await podmanTimes();

const result = {
  open_p50_ms,
  workspaces_per_s: Number((count / seconds).toFixed(1)),
  exec_p50_ms,
  exec_ratio_bwrap: Number((exec_p50_ms / bwrap_p50_ms).toFixed(2)),
  ...{ shell_p50_ms, snapshot_p50_ms, restore_p50_ms, ...podman },
  concurrent: echoes.filter((code) => code === 0).length,
  rss_mib,
  close_200_ms: Math.round(ended),
  base_mb: Math.round(Number(execFileSync("du", ["-sk", values.image]).toString().split("\t", 1)[0]) / 1024),
};
if (!values.json) console.table(result);
console.log(JSON.stringify(result));
