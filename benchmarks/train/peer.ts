/** TRL and the bare PyTorch loop, in their own virtual environment. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Measurement } from "./measurement.ts";
import type { Workload } from "./ours.ts";

const script = (name: string): string => fileURLToPath(new URL(`peers/${name}`, import.meta.url));

/**
 * Returns the peers' Python; made on the first run, by the engine's own Python so that the versions of both sides
 * agree.
 */
export function peerPython(enginePython: string): string {
  return execFileSync(enginePython, [script("setup_environment.py")], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  })
    .trim()
    .split("\n")
    .at(-1) as string;
}

/** Returns the model and the data of the measurements: the same bytes on every machine, in the folder of the environment. */
export function makeFixture(python: string): string {
  const fixture = join(dirname(dirname(python)), "fixture");
  if (!existsSync(join(fixture, "dpo.json"))) {
    mkdirSync(fixture, { recursive: true });
    execFileSync(python, [script("make_fixture.py"), fixture], { stdio: ["ignore", 2, 2] });
  }
  return fixture;
}

export function measurePeer(
  python: string,
  peer: "trl" | "bare",
  fixture: string,
  { algorithm, size, peerBatch, tokens = 64, threads }: Workload,
  steps: number,
  warmup: number,
): Measurement {
  const perStep = { grpo: "prompts", ppo: "prompts", sft: "rows", dpo: "pairs" }[algorithm];
  const length = algorithm === "grpo" ? ["--completion-length", String(tokens)] : [];
  const output = execFileSync(
    python,
    [
      script(`${peer}_${algorithm}.py`),
      "--model",
      join(fixture, "model"),
      "--data",
      join(fixture, `${algorithm}.json`),
      "--steps",
      String(steps),
      "--warmup",
      String(warmup),
      `--${perStep}-per-step`,
      String(size),
      "--micro-batch",
      String(peerBatch),
      ...length,
    ],
    {
      encoding: "utf8",
      env: { ...process.env, ...(threads === undefined ? {} : { OMP_NUM_THREADS: String(threads) }) },
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 1 << 26,
    },
  );
  return JSON.parse(output.trim().split("\n").at(-1) as string) as Measurement;
}
