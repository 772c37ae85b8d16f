import { setTimeout as sleep } from "node:timers/promises";
import type { Finished, Mrlm } from "../../e2e/support/mrlm.ts";
import { gone, killAll, processTree, ranksIn } from "../../e2e/support/process-tree.ts";

/**
 * Part of a run that is killed: all processes at once; the trainer alone, whose children must end by themselves; the engine alone; the thread of
 * the episode store.
 */
export type Victim = "all" | "trainer" | "engine" | "store";

/**
 * Kills a part of a run, which may have been stopped by SIGSTOP, and waits until no process of it remains. A run that has just finished is left as
 * it is.
 */
export async function kill(victim: Victim, mrlm: Mrlm): Promise<Finished> {
  const tree = processTree(mrlm.child.pid as number);
  const [trainer] = tree;
  if (trainer !== undefined) {
    if (victim === "all") killAll(tree);
    else if (victim === "trainer") killAll([trainer]);
    else if (victim === "store") process.kill(trainer.pid, "SIGUSR2");
    else await killEngine(mrlm);
    mrlm.child.kill("SIGCONT");
  }
  const finished = await mrlm.finished;
  await gone(tree);
  if (victim === "engine") assertError(finished, /^1 ENGINE_EXITED$|^3 ENGINE_START_FAILED$/);
  if (victim === "store") assertError(finished, /^1 STORE_FAILED$/);
  return finished;
}

/** Waits for the engine's process where it has not been started yet. */
async function killEngine({ child }: Mrlm): Promise<void> {
  while (child.exitCode === null) {
    const tree = processTree(child.pid as number);
    const engine = ranksIn(tree)[0];
    if (engine !== undefined) return killAll(tree.filter(({ pid }) => pid === engine));
    await sleep(20);
  }
}

/**
 * Throws where a run ended by another error than the expected one, or by one without a hint. A run whose part is killed after its last use of it
 * finishes as if it had not been.
 */
function assertError({ code, signal, events, stderr }: Finished, expected: RegExp): void {
  if (code === 0) return;
  const error = events.find(({ event }) => event === "error");
  const ended = `${code ?? signal} ${String(error?.["code"])}`;
  const hint = String(error?.["hint"] ?? "");
  if (!expected.test(ended) || !/\w{4}/.test(hint))
    throw new Error(`The run ended with "${ended}" and the hint "${hint}" instead of ${String(expected)}:\n${stderr}`);
}
