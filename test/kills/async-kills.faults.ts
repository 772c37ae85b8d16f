// npm run test:faults -- async-kills: kills (-9) of all kinds of processes of runs that play beside learning, with the real engine. ASYNC_KILLS: number of kills (200);
// FAULTS_SEED draws other instants.
import { beforeAll, expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import {
  describeSignals,
  type KillResult,
  killProcesses,
  MODES,
  type WarmModel,
  warmModel,
} from "./support/async-kills.ts";
import { KINDS } from "./support/kinds.ts";

const SEED = Number(process.env["FAULTS_SEED"] ?? 0);
const KILLS = Number(process.env["ASYNC_KILLS"] ?? 200);

const print = (text: string): void => void process.stderr.write(`${text}\n`);

describeWithEngine("runs that play beside learning (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();
  let model: WarmModel;

  beforeAll(async () => {
    model = await warmModel(directory);
  }, 600_000);

  test.each(MODES)(
    "%s: processes of each kind are killed and stopped: no group is in two batches, none is lost, and a replay reaches every checksum",
    async (mode) => {
      const kills = Math.ceil(KILLS / MODES.length);
      const result = await killProcesses(mode, model, { directory, kills, seed: SEED, print });
      print(summaryOf(mode, result));
      const { twice, lost, differences, faults, replay, signals } = result;
      expect({ twice, lost, differences, faults, mismatches: replay.mismatches }).toEqual({
        ...{ twice: [], lost: [], differences: [], faults: [], mismatches: 0 },
      });
      expect(replay.equal).toBeGreaterThanOrEqual(replay.steps);
      for (const signal of ["SIGKILL", "SIGSTOP"] as const)
        expect(new Set(signals.flatMap((one) => (one.signal === signal ? one.kind : [])))).toEqual(new Set(KINDS));
    },
    3_600_000,
  );
});

function summaryOf(mode: string, { signals, runs, twice, lost, late, replay }: KillResult): string {
  return [
    `${mode}: ${describeSignals(signals)} in ${runs} runs (FAULTS_SEED=${SEED})`,
    `${twice.length} groups in two batches, ${lost.length} lost, ${late} late commits refused`,
    `${replay.steps} steps replayed, ${replay.equal} checksums are equal, ${replay.mismatches} mismatches`,
  ].join("; ");
}
