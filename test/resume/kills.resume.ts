import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { randomStream } from "@mrlm/kit";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { temporaryDirectory, writeConfig } from "../e2e/support/tiny-run.ts";
import { type Kill, killOften, leaveAlone } from "./support/kill-often.ts";
import { scenarios, WARM } from "./support/scenarios.ts";

/** Number of kills for each kind of run. */
const KILLS = Number(process.env["RESUME_KILLS"] ?? 12);
const SEED = Number(process.env["RESUME_SEED"] ?? 0);

const directory = temporaryDirectory();
const random = randomStream("kills", SEED);
const model = join(directory, "model");
const survived: Kill[] = [];
const print = (text: string): void => void process.stderr.write(`${text}\n`);
const describeKills = (kills: readonly Kill[]): string => {
  const during = (kind: Kill["during"]): number => kills.filter((kill) => kill.during === kind).length;
  return `${kills.length} kills survived bit for bit, ${during("start")} of them during a start and ${during("checkpoint")} during the writing of a checkpoint`;
};

afterAll(() => print(`In all: ${describeKills(survived)} (RESUME_SEED=${SEED})`));

describeWithEngine(
  "numerics 52, 53: killed at random instants and resumed each time, a run ends with the same bits (skipped where `npm run setup` has not run)",
  () => {
    beforeAll(async () => {
      const warm = await leaveAlone(writeConfig(directory, WARM, "warm.yaml"), join(directory, "warm"));
      renameSync(join(warm.directory, "model"), model);
    }, 600_000);

    test.each(scenarios(model, directory).map(({ name, config }, i) => [name, config, i] as const))(
      "%s",
      async (name, config, i) => {
        const path = writeConfig(directory, config, `${i}.yaml`);
        const undisturbed = await leaveAlone(path, join(directory, `${i}-alone`));
        const kills: Kill[] = [];
        while (kills.length < KILLS) {
          const run = await killOften(
            path,
            join(directory, `${i}-killed`),
            KILLS - kills.length,
            undisturbed,
            random.next,
          );
          // The message of a failure lists the kills.
          expect({ kills: run.kills, ...run.outcome }).toEqual({ kills: run.kills, ...undisturbed.outcome });
          kills.push(...run.kills);
        }
        survived.push(...kills);
        print(`${name}: ${describeKills(kills)}`);
      },
      3_600_000,
    );
  },
);
