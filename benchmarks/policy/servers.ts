/** Servers of the same checkpoint: `mrlm serve`, `transformers serve`, and an engine without HTTP. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connectEngine } from "@mrlm/client";
import { launchEngine } from "@mrlm/engine-torch";
import type { Engine } from "@mrlm/spec/host";
import type { Endpoint } from "./requests.ts";
import { freePort } from "../ports/free-port.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Running server. */
export interface Running {
  readonly endpoint: Endpoint;
  /** Stops the process while another one is measured, because an idle loop of it would take a core. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Returns the peer's Python, made on the first run. */
export function peerPython(enginePython: string): string {
  const script = join(root, "benchmarks/policy/peer/serving_environment.py");
  const output = execFileSync(enginePython, [script], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  return output.trim().split("\n").at(-1) as string;
}

/** Returns a model of 1M parameters, with random weights and a chat template: the same bytes on every machine. Its answers have no end but their longest length. */
export function makeModel(python: string): string {
  const fixture = join(dirname(dirname(python)), "fixture");
  const model = join(fixture, "model-chat");
  if (existsSync(join(model, "chat_template.jinja"))) return model;
  mkdirSync(fixture, { recursive: true });
  const script = join(root, "benchmarks/train/peers/make_fixture.py");
  execFileSync(python, [script, fixture], { stdio: ["ignore", 2, 2] });
  cpSync(join(fixture, "model"), model, { recursive: true });
  for (const name of ["config.json", "generation_config.json"]) {
    const path = join(model, name);
    const { eos_token_id: _, ...config } = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    writeFileSync(path, JSON.stringify(config));
  }
  writeFileSync(join(model, "chat_template.jinja"), "{% for message in messages %}{{ message.content }}{% endfor %}");
  return model;
}

/** Starts `mrlm serve --model`. */
export async function serveOurs(model: string): Promise<Running> {
  const args = [join(root, "core/cli/bin/mrlm.js"), "serve", "--json", "--model", model, "--port", "0"];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`mrlm serve ended with code ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const event = JSON.parse(line) as { event: string; address: string };
      if (event.event === "listening") resolve(event.address);
    });
  });
  const port = Number(address.split(":").at(-1));
  const endpoint = { port, model: "model-chat", parameters: { ignore_eos: true } };
  // It has no idle loop.
  return { endpoint, pause: () => undefined, resume: () => undefined, stop: () => ended(child) };
}

/** Starts `transformers serve`, with or without continuous batching. */
export async function serveTransformers(python: string, model: string, isContinuous: boolean): Promise<Running> {
  const port = await freePort();
  const flags = ["--port", String(port), "--device", "cpu", "--dtype", "float32"];
  const args = ["-m", "transformers.cli.transformers", "serve", ...flags, model];
  const child = spawn(
    python,
    isContinuous ? [...args, "--continuous-batching", "--cb-block-size", "32", "--cb-num-blocks", "1024"] : args,
    {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, HF_HUB_OFFLINE: "1", HF_HUB_DISABLE_UPDATE_CHECK: "1" },
    },
  );
  let errors = "";
  child.stderr.on("data", (text: Buffer) => (errors = (errors + text.toString()).slice(-4_000)));
  const until = performance.now() + 120_000;
  for (;;) {
    const isUp = await fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) break;
    if (child.exitCode !== null || performance.now() > until)
      throw new Error(`transformers serve does not answer:\n${errors}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return {
    endpoint: { port, model, parameters: {} },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async stop() {
      child.kill("SIGCONT");
      await ended(child);
    },
  };
}

/** Starts an engine in throughput mode with the model, for requests without HTTP. */
export async function startEngine(model: string): Promise<{ engine: Engine; stop(): Promise<void> }> {
  const launched = await launchEngine({ mode: "throughput" });
  const engine = await connectEngine(launched.address, { token: launched.token });
  await engine.createModel({
    model: "policy",
    role: "policy",
    trainable: false,
    source: { kind: "directory", path: model },
  });
  return {
    engine,
    async stop() {
      await engine.close();
      await launched.stop();
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
  await exit;
  clearTimeout(timer);
}
