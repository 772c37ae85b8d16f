import { join } from "node:path";
import { freePort } from "../../../benchmarks/ports/free-port.ts";
import { type Finished, Mrlm } from "../../e2e/support/mrlm.ts";
import { TINY, writeConfig } from "../../e2e/support/tiny-run.ts";
import { directoryIn } from "../../resume/support/kill-often.ts";

/** Launcher of a configuration, with its options. */
export type Use = { readonly use: string } & Readonly<Record<string, unknown>>;

/** Writes a pipelined run of SFT, then GRPO, with two rollout workers, two environment servers and a store server. Returns the path. */
export async function launchConfig(directory: string, launcher: Use, steps: number): Promise<string> {
  const [sft, grpo] = TINY.stages;
  const addresses = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const config = {
    ...TINY,
    play: { mode: "pipelined", lag: 1, cohorts: 4 },
    stages: [sft, { ...grpo, steps, mismatch: "truncate" }],
    eval: { tasks: 0 },
    checkpoint: { every: 0 },
    server: { address: addresses },
    launcher,
    parts: [
      { kind: "environments", cpus: 0.1 },
      { kind: "rollouts", count: 2, cpus: 0.5, memory_mb: 100 },
      { kind: "store", args: ["--port", "0"], cpus: 0.1 },
    ],
  };
  return writeConfig(directory, config, `${launcher.use}.yaml`);
}

/** Begins `mrlm launch`. */
export function beginLaunch(config: string, output: string, env: NodeJS.ProcessEnv = {}): Mrlm {
  return new Mrlm(["launch", "--json", "--config", config, "--output", output], env);
}

/** Event of the start of a process of a kind. */
export const isStarted =
  (kind: string) =>
  (event: Readonly<Record<string, unknown>>): boolean =>
    event["event"] === "part" &&
    event["kind"] === "started" &&
    (event["process"] as { readonly kind: string }).kind === kind;

/** Returns the processes of parts that were reported as started. */
export function startedPids({ events }: Pick<Finished, "events">): number[] {
  return events
    .filter(({ event, kind }) => event === "part" && kind === "started")
    .map((event) => (event["process"] as { readonly pid: number }).pid);
}

/** Returns the run's directory below an output directory. */
export function runIn(output: string): string {
  return directoryIn(output) ?? join(output, "missing");
}
