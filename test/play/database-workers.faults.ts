// npm run test:faults -- database-workers: rollout workers that know a run by its database alone, beside kills of the training process and restarts of Postgres.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { RunDirectory } from "@mrlm/runtime";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { Mrlm } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { begin, directoryIn, leaveAlone } from "../resume/support/kill-often.ts";
import { grpoAhead, WARM } from "../resume/support/scenarios.ts";

const SERVER = fileURLToPath(new URL("../../plugins/store-postgres/test/support/postgres-process.ts", import.meta.url));
/** Password of the server's user. */
const PASSWORD = "9d4c-password-of-the-server";
const STEPS = Number(process.env["DATABASE_STEPS"] ?? 40);

describeWithEngine("workers of a database (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();
  const model = join(directory, "model");
  let server: ChildProcess;
  let answers: AsyncIterator<string>;
  let url: string;

  async function order(command: "stop" | "start"): Promise<void> {
    server.stdin?.write(`${command}\n`);
    expect((await answers.next()).value).toBe(command);
  }

  beforeAll(async () => {
    process.env["PGPASSWORD"] = PASSWORD;
    server = spawn(process.execPath, ["--conditions=mrlm-source", SERVER], { stdio: ["pipe", "pipe", "inherit"] });
    answers = createInterface({ input: server.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
    url = (await answers.next()).value as string;
    const warm = await leaveAlone(writeConfig(directory, WARM, "warm.yaml"), join(directory, "warm"));
    renameSync(join(warm.directory, "model"), model);
  }, 600_000);
  afterAll(async () => {
    server.stdin?.end();
    await once(server, "exit");
  });

  test("a worker plays for a run that is killed and whose server is restarted, and the run has the bits of an undisturbed one", async () => {
    const { config } = grpoAhead(model, STEPS);
    const undisturbed = await leaveAlone(writeConfig(directory, config, "alone.yaml"), join(directory, "alone"));
    const output = join(directory, "disturbed");
    const inDatabase = writeConfig(directory, { ...config, store: url }, "database.yaml");
    let training = begin(inDatabase, output, 0);
    await training.event(({ event }) => event === "iteration");
    const run = directoryIn(output) as string;
    const worker = new Mrlm(["play", "--json", "--store", RunDirectory.open(run).episodesPath]);
    await worker.event(({ event }) => event === "playing");

    await sleep(1_000);
    await order("stop");
    await sleep(1_000);
    await order("start");
    await sleep(1_000);
    training.child.kill("SIGKILL");
    await training.finished;
    training = begin(inDatabase, output, 1);
    expect(await training.finished).toMatchObject({ code: 0 });
    const { code, events } = await worker.finished;
    expect(code).toBe(0);
    const played = Number(events.find(({ event }) => event === "played")?.["cohorts"]);
    process.stderr.write(`database-workers: 1 kill, 1 restart of Postgres; ${played} cohorts played by the worker\n`);
    expect(played).toBeGreaterThan(0);
    expect(outcomeOf(run).weights).toEqual(undisturbed.outcome.weights);
  }, 900_000);
});
