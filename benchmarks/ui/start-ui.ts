/** `mrlm ui` as a process. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { treeCpuSeconds } from "../process-tree.ts";

const COMMAND = fileURLToPath(new URL("../../core/cli/bin/mrlm.js", import.meta.url));

/** Running server of the page. */
export interface RunningUi {
  readonly url: string;
  /** Processor seconds since its start. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** Starts `mrlm ui` over a folder of runs. Rejects if it ends before it listens. */
export async function startUi(folder: string): Promise<RunningUi> {
  const child = spawn(process.execPath, [COMMAND, "ui", folder, "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const listening = Promise.withResolvers<string>();
  void ended.then(() => listening.reject(new Error("mrlm ui ended before it listened")));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { event, url } = JSON.parse(line) as { readonly event: string; readonly url?: string };
    if (event === "listening") listening.resolve(String(url));
  });
  return {
    url: await listening.promise,
    cpuSeconds: () => treeCpuSeconds(child.pid as number),
    async stop() {
      child.kill("SIGINT");
      await ended;
    },
  };
}
