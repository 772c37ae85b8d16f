import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../ports/free-port.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Longest start of a server and longest installation, in milliseconds. */
const START_MS = 600_000;
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
  return await environmentPython();
}

/** Returns the interpreter of that environment; `undefined` where it was not made. */
export async function installedVllmPython(): Promise<string | undefined> {
  const python = await environmentPython("--print-only").catch(() => undefined);
  return python !== undefined && existsSync(join(python, "../../.complete")) ? python : undefined;
}

async function environmentPython(...flags: string[]): Promise<string> {
  const setup = join(ROOT, "benchmarks/train/peers/setup_environment.py");
  const requirements = join(ROOT, "test/vllm/requirements.txt");
  const { stdout } = await promisify(execFile)("python3.11", [setup, "--requirements", requirements, ...flags], {
    timeout: INSTALL_MS,
    maxBuffer: 1 << 26,
  });
  return stdout.trim().split("\n").at(-1) as string;
}

/** Options of a {@link VllmProcess}. */
interface VllmProcessOptions {
  /** Longest sequence in tokens. */
  readonly maxTokens: number;
  readonly dtype?: "float32" | "bfloat16";
}

/** Real vLLM server on a port of its own. */
export class VllmProcess {
  readonly url: string;
  readonly #python: string;
  readonly #port: number;
  readonly #options: VllmProcessOptions;
  #child: ChildProcess | undefined;
  #log = "";
  #drawn = 0;

  private constructor(python: string, port: number, options: VllmProcessOptions) {
    this.#python = python;
    this.#port = port;
    this.#options = options;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Chooses the port of a server that `start` starts. */
  static async create(python: string, options: VllmProcessOptions): Promise<VllmProcess> {
    return new VllmProcess(python, await freePort(), options);
  }

  /** Starts the server of a directory of weights, again after `kill`, and waits until it answers. */
  async start(directory: string): Promise<void> {
    const { maxTokens, dtype = "float32" } = this.#options;
    const args = [
      ...["-m", "vllm.entrypoints.openai.api_server", "--model", directory, "--skip-tokenizer-init"],
      ...["--host", "127.0.0.1", "--port", String(this.#port), "--dtype", dtype, "--max-model-len", String(maxTokens)],
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

  /** Number of tokens that it had drawn by the times of its kills. */
  get drawn(): number {
    return this.#drawn;
  }

  /** Ends the server by SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    this.#drawn += await this.#countTokens();
    process.kill(-child.pid, "SIGKILL");
    await once(child, "close");
  }

  async #countTokens(): Promise<number> {
    const metrics = await fetch(`${this.url}/metrics`).then(
      (answer) => answer.text(),
      () => "",
    );
    return Number(/^vllm:generation_tokens_total\S* (\S+)$/m.exec(metrics)?.[1] ?? 0);
  }
}
