// Runs with another PATH, and so with another bubblewrap. Prints the layers of the sandbox and the verdict of a submission; then, if an argument asks
// for it, exits while another submission runs, and prints the process ids.
import { PooledSandbox } from "@mrlm/sandbox";
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { pythonBackend } from "../../src/backend.ts";
import { pythonOptions } from "../../src/options.ts";

const [kind, isToDie] = process.argv.slice(2) as ["auto" | "pyodide", string?];
const sandbox = new PooledSandbox(await pythonBackend(pythonOptions.parse({ kind, children: 1 })));
const { verdict } = await sandbox.run({ code: "print(1)" });
const endless =
  isToDie === undefined
    ? undefined
    : sandbox.run({ code: "while True: pass", limits: { wallMs: 600_000, cpuMs: 600_000 } });
if (endless !== undefined) await setTimeout(500);
console.log(JSON.stringify({ ...(await sandbox.layers()), verdict, descendants: descendantsOf(process.pid) }));
if (endless !== undefined) process.kill(process.pid, "SIGKILL");
await sandbox.close();

function descendantsOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}
