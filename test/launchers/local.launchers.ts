// npm run test:launchers: runs whose parts a launcher starts, with the real engine.
import { expect, test } from "@jest/globals";
import { join } from "node:path";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { isAlive, run } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { gone, processTree } from "../e2e/support/process-tree.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { beginLaunch, isStarted, launchConfig, runIn, startedPids } from "./support/launched-run.ts";

describeWithEngine("mrlm launch on this machine (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();

  test("two workers, one of them killed: the weights of a run of one process, and no process is left", async () => {
    const config = await launchConfig(directory, { use: "local" }, 40);
    const alone = join(directory, "alone");
    const flags = ["--set", "server={}", "--output", alone];
    expect(await run(["train", "--config", config, ...flags])).toMatchObject({ code: 0 });
    const output = join(directory, "launched");
    const training = beginLaunch(config, output);
    const { process } = (await training.event(isStarted("rollouts"))) as unknown as { process: { pid: number } };
    await training.printed("rollouts-0: ");
    expect(processTree(process.pid)).not.toEqual([]);
    globalThis.process.kill(process.pid, "SIGKILL");
    const finished = await training.finished;
    expect(finished).toMatchObject({ code: 0 });
    expect(finished.stderr).toContain("ended by SIGKILL; starting another in 1 s.");
    const pids = startedPids(finished);
    expect(pids).toHaveLength(6);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(outcomeOf(runIn(output)).weights).toBe(outcomeOf(runIn(alone)).weights);
  }, 300_000);

  test("kill -9 of mrlm launch leaves no process", async () => {
    const config = await launchConfig(directory, { use: "local" }, 10_000);
    const training = beginLaunch(config, join(directory, "killed"));
    await training.event(({ event, step }) => event === "iteration" && Number(step) > 20);
    const tree = processTree(training.child.pid as number);
    expect(tree.length).toBeGreaterThan(6);
    training.child.kill("SIGKILL");
    const { events } = await training.finished;
    expect(startedPids({ events })).toHaveLength(5);
    await gone(tree);
  }, 300_000);
});
