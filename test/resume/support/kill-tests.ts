import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { randomStream } from "@mrlm/kit";
import { describeWithEngine } from "../../e2e/support/engine.ts";
import { Mrlm } from "../../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../../e2e/support/temporary-directory.ts";
import { writeConfig } from "../../e2e/support/tiny-run.ts";
import { differenceOf } from "./engine-calls.ts";
import { begin, callsOf, directoryIn, type Kill, killOften, leaveAlone } from "./kill-often.ts";
import { plant } from "./planted-fault.ts";
import { grpoAlone, type Scenario, WARM } from "./scenarios.ts";
import { kill, type Victim } from "./victims.ts";

const SEED = Number(process.env["RESUME_SEED"] ?? 0);
const VICTIMS = (process.env["RESUME_VICTIMS"] ?? "all,trainer,engine,store").split(",") as Victim[];

/**
 * Defines a test for each kind of run: it is killed at random instants and resumed each time, and has the result of an undisturbed run. The calls
 * of the engine that led to the result are those of the undisturbed run, so that no batch is learnt twice or lost.
 * @param makeScenarios with the path of a model and a directory for data
 * @param kills number of kills in each kind of run
 */
export function killTests(makeScenarios: (model: string, directory: string) => Scenario[], kills: number): void {
  const directory = temporaryDirectory();
  const model = join(directory, "model");
  const random = randomStream("kills", SEED);
  const survived: Kill[] = [];
  const replayed = { steps: 0, equal: 0 };

  afterAll(() =>
    print(
      `In all: ${describeKills(survived)}; ${replayed.steps} steps replayed, ${replayed.equal} checksums are equal (RESUME_SEED=${SEED})`,
    ),
  );

  describeWithEngine(
    "numerics 52, 53: killed at random instants and resumed each time, a run ends with the same bits (skipped where `npm run setup` has not run)",
    () => {
      beforeAll(async () => {
        const warm = await leaveAlone(writeConfig(directory, WARM, "warm.yaml"), join(directory, "warm"));
        renameSync(join(warm.directory, "model"), model);
      }, 600_000);

      test.each(makeScenarios(model, directory).map(({ name, config }, i) => [kills, name, config, i] as const))(
        "%i kills in %s",
        async (_, name, config, i) => {
          const path = writeConfig(directory, config, `${i}.yaml`);
          const undisturbed = await leaveAlone(path, join(directory, `${i}-alone`));
          const done: Kill[] = [];
          let replays = 0;
          while (done.length < kills) {
            const victims = Array.from(
              { length: kills - done.length },
              (__, j) => VICTIMS[(done.length + j + i) % VICTIMS.length] as Victim,
            );
            const run = await killOften(path, join(directory, `${i}-killed`), victims, undisturbed, random.next);
            // The message of a failure lists the kills. On a CPU no logged batch is played anew.
            const { kills: those, calls, log, outcome } = run;
            expect({ those, calls: differenceOf(calls, undisturbed.calls), ...log, replays: 0, ...outcome }).toEqual({
              those,
              calls: undefined,
              ...undisturbed.log,
              ...undisturbed.outcome,
            });
            const { steps, equal } = await replayRun(join(directory, `${i}-killed`));
            replayed.steps += steps;
            replayed.equal += equal;
            replays += log.replays;
            done.push(...run.kills);
          }
          survived.push(...done);
          print(
            `${name}: ${describeKills(done)}; ${undisturbed.calls.length} calls of the engine are equal, ${replays} logged batches were taken again`,
          );
        },
        3_600_000,
      );

      test("mrlm verify computes the stored log-probabilities of a run by its checkpoints", async () => {
        const path = writeConfig(directory, grpoAlone(model).config, "verified.yaml");
        const run = await leaveAlone(path, join(directory, "verified"));
        const { code, events, stderr } = await new Mrlm(["verify", "--json", run.directory, "--sample", "1000"])
          .finished;
        const result = events.find(({ event }) => event === "verify");
        expect({ code, stderr, result }).toMatchObject({ code: 0, result: { tolerance: 1e-4 } });
        expect(Number(result?.["verified"])).toBeGreaterThanOrEqual(16);
        expect(Number(result?.["withoutWeights"])).toBeGreaterThan(0);
        print(
          `mrlm verify: ${String(result?.["verified"])} of ${String(result?.["sampled"])} segments, ${String(result?.["tokens"])} tokens, largest difference ${String(result?.["largest"])}`,
        );
      }, 600_000);

      test.each(["skipped", "twice"] as const)(
        "a batch that a resume planted to be %s is found in the calls of the engine",
        async (fault) => {
          const path = writeConfig(directory, grpoAlone(model).config, "grpo.yaml");
          const undisturbed = await leaveAlone(path, join(directory, `${fault}-alone`));
          const output = join(directory, fault);
          const mrlm = begin(path, output, 0);
          await mrlm.event(({ event, step }) => event === "checkpoint" && step === 4);
          await kill("all", mrlm);
          plant(fault, directoryIn(output) as string);
          const { code, signal, events, stderr } = await begin(path, output, 1).finished;
          expect({ code, signal, errors: events.filter(({ event }) => event === "error"), stderr }).toEqual({
            ...{ code: 0, signal: null, errors: [], stderr: expect.any(String) },
          });
          expect(differenceOf(callsOf(output), undisturbed.calls)).toMatch(
            /^Call \d+ \(after checkpoint 0000000[34]-0\) is pass policy \w+ instead of pass policy \w+\.$/,
          );
        },
        600_000,
      );
    },
  );
}

/** Learns again from the batches of a run that was killed, in other processes. */
async function replayRun(output: string): Promise<{ readonly steps: number; readonly equal: number }> {
  const mrlm = new Mrlm(["replay", "--json", directoryIn(output) as string, "--from", "start"]);
  const { code, events, stderr } = await mrlm.finished;
  const result = events.find(({ event }) => event === "replay");
  expect({ code, result, stderr }).toMatchObject({ code: 0, result: { first: 0, missed: 0, unrecorded: 0 } });
  return { steps: Number(result?.["steps"]), equal: Number(result?.["equal"]) };
}

function describeKills(kills: readonly Kill[]): string {
  const count = (holds: (kill: Kill) => boolean): number => kills.filter(holds).length;
  const victims = VICTIMS.map((victim) => `${count((kill) => kill.victim === victim)} ${victim}`).join(", ");
  const [start, checkpoint, refill] = (["start", "checkpoint", "refill"] as const).map((kind) =>
    count(({ during }) => during === kind),
  );
  return `${kills.length} kills survived bit for bit (${victims}): ${start} during a start, ${checkpoint} during the writing of a checkpoint, ${refill} between refills`;
}

function print(text: string): void {
  process.stderr.write(`${text}\n`);
}
