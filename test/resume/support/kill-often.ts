import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Finished, Mrlm } from "../../e2e/support/mrlm.ts";
import { type Outcome, outcomeOf } from "../../e2e/support/outcome.ts";
import { type BatchLog, batchLogOf, hasUnfinishedBatch, isBetweenRefills } from "./batch-log.ts";
import { type EngineCall, survivingCalls } from "./engine-calls.ts";
import { kill, type Victim } from "./victims.ts";

/** A run that was left alone, and how long it took to begin and to end. */
export interface Undisturbed {
  readonly directory: string;
  readonly outcome: Outcome;
  readonly calls: readonly EngineCall[];
  readonly log: BatchLog;
  readonly startMs: number;
  readonly runMs: number;
}

/** One kill: its iteration and its instant. */
export interface Kill {
  readonly victim: Victim;
  /** Number of iterations that the process had reported. */
  readonly steps: number;
  /** `refill`: a part of a batch was logged, and another one was not. */
  readonly during: "start" | "checkpoint" | "refill" | "run";
}

/** Kills of an interrupted run, its final outcome, the engine's calls that led to it, and the batches in its store. */
export interface Disturbed {
  readonly kills: readonly Kill[];
  readonly outcome: Outcome;
  readonly calls: readonly EngineCall[];
  readonly log: BatchLog;
}

export async function leaveAlone(config: string, output: string): Promise<Undisturbed> {
  const began = performance.now();
  const mrlm = begin(config, output, 0);
  await mrlm.event(({ event }) => event === "start");
  const startMs = performance.now() - began;
  assertFinished(await mrlm.finished);
  const directory = directoryIn(output) as string;
  const runMs = performance.now() - began - startMs;
  const log = batchLogOf(directory) as BatchLog;
  return { directory, outcome: outcomeOf(directory), calls: callsOf(output), log, startMs, runMs };
}

/**
 * Starts a run and kills a part of it at random instants, resuming after each, until there have been as many kills as victims or it has ended.
 * One kill in five falls into a start.
 * @param random numbers from 0 up to 1
 */
export async function killOften(
  config: string,
  output: string,
  victims: readonly Victim[],
  { startMs, runMs, log }: Undisturbed,
  random: () => number,
): Promise<Disturbed> {
  const kills: Kill[] = [];
  rmSync(output, { recursive: true, force: true });
  for (let i = 0; ; i++) {
    const mrlm = begin(config, output, i);
    let finished: Finished | undefined;
    const end = mrlm.finished.then((result) => (finished = result));
    const victim = victims[kills.length];
    if (victim !== undefined) {
      const isEarly = random() < 0.2;
      if (!isEarly) await mrlm.event(({ event }) => event === "start").catch(() => undefined);
      await Promise.race([
        sleep(isEarly ? startMs * random() : (runMs * random()) / 2, undefined, { ref: false }),
        end,
      ]);
      if (!isEarly && hasRefills(log) && random() < 0.3) await stopBetweenRefills(mrlm, output, log);
      if (finished === undefined) {
        const isWriting = hasUnfinishedCheckpoint(output);
        const { code } = await kill(victim, mrlm);
        const parts = isEarly ? undefined : batchLogOf(directoryIn(output) as string)?.parts;
        const isRefilling = parts !== undefined && hasUnfinishedBatch(parts, log);
        const during = isEarly ? "start" : isWriting ? "checkpoint" : isRefilling ? "refill" : "run";
        kills.push({ victim, steps: mrlm.lastStep(), during });
        if (code !== 0) continue;
      }
    }
    assertFinished(await end);
    const directory = directoryIn(output) as string;
    return { kills, outcome: outcomeOf(directory), calls: callsOf(output), log: batchLogOf(directory) as BatchLog };
  }
}

/** Starts the run in `output`, or resumes it. Records the engine's calls of process `i` of the run. */
export function begin(config: string, output: string, i: number): Mrlm {
  mkdirSync(output, { recursive: true });
  const directory = directoryIn(output);
  return new Mrlm(
    directory === undefined
      ? ["train", "--json", "--config", config, "--output", output]
      : ["train", "--json", "--resume", directory],
    {
      NODE_OPTIONS: ["record-calls.ts", "end-store.ts"]
        .map((name) => `--import=${import.meta.resolve(`./${name}`)}`)
        .join(" "),
      RECORD_CALLS: join(output, `${String(i).padStart(4, "0")}.calls.jsonl`),
    },
  );
}

/** Returns the run directory in `output` that can be resumed. */
export function directoryIn(output: string): string | undefined {
  const names = existsSync(output) ? readdirSync(output) : [];
  const name = names.find((each) => existsSync(join(output, each, "config.yaml")));
  return name === undefined ? undefined : join(output, name);
}

/** Returns the calls that led to the result of the run in `output`. */
export function callsOf(output: string): EngineCall[] {
  const files = readdirSync(output)
    .filter((name) => name.endsWith(".calls.jsonl"))
    .sort();
  const processes = files.map((name) => readFileSync(join(output, name), "utf8").split("\n").slice(0, -1));
  return survivingCalls(processes.map((lines) => lines.map((line) => JSON.parse(line) as EngineCall)));
}

function hasUnfinishedCheckpoint(output: string): boolean {
  const checkpoints = join(directoryIn(output) ?? output, "checkpoints");
  return existsSync(checkpoints) && readdirSync(checkpoints).some((name) => name.endsWith(".partial"));
}

/** Waits until refills of a batch are missing, or the run has ended. Stops the trainer, which `kill` continues. */
async function stopBetweenRefills({ child }: Mrlm, output: string, log: BatchLog): Promise<void> {
  while (child.exitCode === null) {
    if (isBetweenRefills(directoryIn(output) as string, log)) return void child.kill("SIGSTOP");
    await sleep(2);
  }
}

function hasRefills({ parts }: BatchLog): boolean {
  return [...parts.values()].some((count) => count > 1);
}

function assertFinished({ code, events, stderr }: Finished): void {
  const summary = events.find(({ event }) => event === "summary");
  if (code !== 0 || summary?.["status"] !== "finished")
    throw new Error(`The run did not finish (exit code ${code}):\n${stderr}`);
}
