// npm run test:faults -- eval: kills (-9) of evaluations at random instants, from the start of a process to its end. EVAL_KILLS: number of kills (300), a tenth of them
// of the command `mrlm eval` with a model behind an endpoint; FAULTS_SEED draws other instants.
import { expect, test } from "@jest/globals";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { type Begin, beginParts, commandOfEndpoint, EvaluationKills } from "./support/evaluation-kills.ts";

const SEED = Number(process.env["FAULTS_SEED"] ?? 0);
const KILLS = Number(process.env["EVAL_KILLS"] ?? 300);
const OF_COMMAND = Math.ceil(KILLS / 10);

const directories = [temporaryDirectory(), temporaryDirectory()];

async function expectSameFigures(name: string, directory: string, begin: Begin, wanted: number): Promise<void> {
  const kills = await EvaluationKills.prepare(directory, begin, SEED);
  const { killed, evaluations, kept, episodes, twice, lost, replayed, differing } = await kills.kill(wanted);
  process.stderr.write(
    `${name}: ${killed} kills in ${evaluations} evaluations of ${episodes} episodes (FAULTS_SEED=${SEED}), ${kept} of them between the first and the last episode; ${twice} episodes scored twice, ${lost} lost, ${replayed} played again, ${differing} evaluations with other figures\n`,
  );
  expect({ twice, lost, replayed, differing }).toEqual({ twice: 0, lost: 0, replayed: 0, differing: 0 });
  expect(killed).toBeGreaterThanOrEqual(wanted);
  expect(kept).toBeGreaterThan(killed / 10);
}

test("parts of evaluations that are killed and resumed: each episode is scored once, none is played again, and the figures are those of an undisturbed one", async () => {
  await expectSameFigures("parts", directories[0] as string, beginParts, KILLS - OF_COMMAND);
}, 3_600_000);

test("the command that is killed and resumed has the figures of an undisturbed one", async () => {
  const { server, begin } = await commandOfEndpoint();
  try {
    await expectSameFigures("mrlm eval", directories[1] as string, begin, OF_COMMAND);
  } finally {
    await server.close();
  }
}, 3_600_000);
