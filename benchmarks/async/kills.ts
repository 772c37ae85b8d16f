/** Kills of all kinds of processes of pipelined and asynchronous runs, and the replay of these runs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killProcesses, MODES, warmModel } from "../../test/kills/support/async-kills.ts";

/** @param kills number of kills in both modes together */
export async function killFigures(kills: number): Promise<Record<string, number>> {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
  const figures = { kills: 0, kills_lost: 0, replay_steps: 0, replay_mismatches: 0 };
  const model = await warmModel(directory);
  for (const mode of MODES) {
    const options = { directory, kills: Math.ceil(kills / MODES.length), seed: 0, print: console.error };
    const { signals, twice, lost, differences, faults, replay } = await killProcesses(mode, model, options);
    const wrong = [...differences, ...faults];
    if (wrong.length > 0) throw new Error(`Runs that were killed went wrong:\n${wrong.join("\n")}`);
    figures.kills += signals.filter(({ signal }) => signal === "SIGKILL").length;
    // A group in two batches takes the place of another one.
    figures.kills_lost += twice.length + lost.length;
    figures.replay_steps += replay.steps;
    figures.replay_mismatches += replay.mismatches;
  }
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  return figures;
}
