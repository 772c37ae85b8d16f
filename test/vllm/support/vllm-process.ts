import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../e2e/support/free-port.ts";
import { ROOT } from "../../e2e/support/mrlm.ts";

/** Longest start of a server and longest installation, in milliseconds. */
const START_MS = 240_000;
export const INSTALL_MS = 900_000;

/** Environment of the server. */
const ENVIRONMENT = {
  VLLM_SERVER_DEV_MODE: "1",
  VLLM_CPU_KVCACHE_SPACE: "1",
  TORCH_COMPILE_DISABLE: "1",
  HF_HUB_OFFLINE: "1",
  VLLM_NO_USAGE_STATS: "1",
  DO_NOT_TRACK: "1",
};

/** Makes the virtual environment of vLLM, which is cached, and returns its interpreter. */
export async function vllmPython(): Promise<string> {
  const setup = join(ROOT, "benchmarks/train/peers/setup_environment.py");
  const requirements = join(ROOT, "test/vllm/requirements.txt");
  const { stdout } = await promisify(execFile)("python3.11", [setup, "--requirements", requirements], {
    timeout: INSTALL_MS,
    maxBuffer: 1 << 26,
  });
  return stdout.trim().split("\n").at(-1) as string;
}

/** Real vLLM server of a directory of weights. */
export class VllmProcess {
  readonly url: string;
  readonly #python: string;
  readonly #directory: string;
  readonly #port: number;
  #child: ChildProcess | undefined;
  #log = "";

  private constructor(python: string, directory: string, port: number) {
    this.#python = python;
    this.#directory = directory;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(python: string, directory: string): Promise<VllmProcess> {
    const server = new VllmProcess(python, directory, await freePort());
    await server.start();
    return server;
  }

  /** Starts the server, again after `kill`, and waits until it answers. */
  async start(): Promise<void> {
    const args = [
      ...["-m", "vllm.entrypoints.openai.api_server", "--model", this.#directory, "--skip-tokenizer-init"],
      ...["--host", "127.0.0.1", "--port", String(this.#port), "--dtype", "float32", "--max-model-len", "1024"],
      ...["--logprobs-mode", "processed_logprobs", "--enforce-eager", "--enable-scale-out"],
    ];
    // The server has processes of its own, which end with its group.
    const child = spawn(this.#python, args, {
      env: { ...process.env, ...ENVIRONMENT },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const keep = (text: string): void => void (this.#log = (this.#log + text).slice(-8_000));
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    this.#child = child;
    const end = performance.now() + START_MS;
    for (;;) {
      const isUp = await fetch(`${this.url}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return;
      if (child.exitCode !== null || performance.now() > end) {
        await this.kill();
        throw new Error(`vLLM did not start:\n${this.#log}`);
      }
      await delay(250);
    }
  }

  /** Ends the server by SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, "SIGKILL");
    await once(child, "close");
  }
}
