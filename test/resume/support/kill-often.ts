import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Finished, Mrlm } from "../../e2e/support/mrlm.ts";
import { type Outcome, outcomeOf } from "../../e2e/support/outcome.ts";
import { gone, killAll, processTree } from "../../e2e/support/process-tree.ts";

/** A run that was left alone, and how long it took to begin and to end. */
export interface Undisturbed {
  readonly directory: string;
  readonly outcome: Outcome;
  readonly startMs: number;
  readonly runMs: number;
}

/** One kill: its iteration and its instant. */
export interface Kill {
  /** Number of iterations that the process had reported. */
  readonly steps: number;
  readonly during: "start" | "checkpoint" | "run";
}

/** Kills of an interrupted run, and its final outcome. */
export interface Disturbed {
  readonly kills: readonly Kill[];
  readonly outcome: Outcome;
}

export async function leaveAlone(config: string, output: string): Promise<Undisturbed> {
  const began = performance.now();
  const mrlm = begin(config, output);
  await mrlm.event(({ event }) => event === "start");
  const startMs = performance.now() - began;
  assertFinished(await mrlm.finished);
  const directory = directoryIn(output) as string;
  return { directory, outcome: outcomeOf(directory), startMs, runMs: performance.now() - began - startMs };
}

/**
 * Starts a run and kills its whole tree at random instants, resuming after each, until there have been so many kills or it has ended. One kill in five falls
 * into a start.
 * @param random numbers from 0 up to 1
 */
export async function killOften(
  config: string,
  output: string,
  most: number,
  { startMs, runMs }: Undisturbed,
  random: () => number,
): Promise<Disturbed> {
  const kills: Kill[] = [];
  rmSync(output, { recursive: true, force: true });
  for (;;) {
    const directory = directoryIn(output);
    const mrlm = directory === undefined ? begin(config, output) : new Mrlm(["train", "--json", "--resume", directory]);
    let finished: Finished | undefined;
    const end = mrlm.finished.then((result) => (finished = result));
    if (kills.length < most) {
      const isEarly = random() < 0.2;
      if (!isEarly) await mrlm.event(({ event }) => event === "start").catch(() => undefined);
      await Promise.race([
        sleep(isEarly ? startMs * random() : (runMs * random()) / 2, undefined, { ref: false }),
        end,
      ]);
      if (finished === undefined) {
        const tree = processTree(mrlm.child.pid as number);
        killAll(tree);
        await end;
        await gone(tree);
        kills.push({
          steps: mrlm.lastStep(),
          during: isEarly ? "start" : hasUnfinishedCheckpoint(output) ? "checkpoint" : "run",
        });
        continue;
      }
    }
    assertFinished(await end);
    return { kills, outcome: outcomeOf(directoryIn(output) as string) };
  }
}

function begin(config: string, output: string): Mrlm {
  mkdirSync(output, { recursive: true });
  return new Mrlm(["train", "--json", "--config", config, "--output", output]);
}

/** Returns the run directory in `output` that can be resumed. */
function directoryIn(output: string): string | undefined {
  const names = existsSync(output) ? readdirSync(output) : [];
  const name = names.find((each) => existsSync(join(output, each, "config.yaml")));
  return name === undefined ? undefined : join(output, name);
}

function hasUnfinishedCheckpoint(output: string): boolean {
  const checkpoints = join(directoryIn(output) ?? output, "checkpoints");
  return existsSync(checkpoints) && readdirSync(checkpoints).some((name) => name.endsWith(".partial"));
}

function assertFinished({ code, events, stderr }: Finished): void {
  const summary = events.find(({ event }) => event === "summary");
  if (code !== 0 || summary?.["status"] !== "finished")
    throw new Error(`The run did not finish (exit code ${code}):\n${stderr}`);
}
