// npm run test:faults -- eval: kills (-9) of `mrlm eval` at random instants, from its start to its end, with a model behind an endpoint. EVAL_KILLS: number of kills (300);
// FAULTS_SEED draws other instants.
import { expect, test } from "@jest/globals";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { EvaluationKills } from "./support/evaluation-kills.ts";

const SEED = Number(process.env["FAULTS_SEED"] ?? 0);
const KILLS = Number(process.env["EVAL_KILLS"] ?? 300);

test("evaluations that are killed and resumed: each episode is scored once, none is played again, and the figures are those of an undisturbed one", async () => {
  await using kills = await EvaluationKills.prepare(temporaryDirectory(), SEED);
  const { killed, evaluations, kept, episodes, twice, lost, replayed, differing } = await kills.kill(KILLS);
  process.stderr.write(
    `${killed} kills in ${evaluations} evaluations of ${episodes} episodes (FAULTS_SEED=${SEED}): ${kept} resumed with stored episodes; ${twice} episodes scored twice, ${lost} lost, ${replayed} played again, ${differing} evaluations with other figures\n`,
  );
  expect({ twice, lost, replayed, differing }).toEqual({ twice: 0, lost: 0, replayed: 0, differing: 0 });
  expect(killed).toBeGreaterThanOrEqual(KILLS);
  expect(kept).toBeGreaterThan(killed / 10);
}, 3_600_000);
