import { beforeAll, expect, test } from "@jest/globals";
import { setTimeout as sleep } from "node:timers/promises";
import { describeWithEngine } from "./support/engine.ts";
import { type Event, type Finished, isAlive, Mrlm } from "./support/mrlm.ts";
import { type Outcome, outcomeOf } from "./support/outcome.ts";
import { temporaryDirectory, TINY, writeConfig } from "./support/tiny-run.ts";

const LAST_STEP = 26;

const begin = (): Mrlm => new Mrlm(["train", "--json", "--config", config, "--output", output]);
const afterStep = (step: number) => (event: Event): boolean => event.event === "iteration" && (event["step"] as number) >= step;
const errorOf = ({ events }: Finished): Event | undefined => events.find(({ event }) => event === "error");
/** The directory that a resume line names. */
const resumed = (text: string): string => /npx mrlm train --resume (\S+)/.exec(text)?.[1] ?? "no resume line";

async function directoryOf(mrlm: Mrlm): Promise<string> {
  return (await mrlm.event(({ event }) => event === "start"))["directory"] as string;
}

/** Waits for the end of processes that nobody ends any more. */
async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some(isAlive)) await sleep(50);
}

const output = temporaryDirectory();
const config = writeConfig(output, TINY);

describeWithEngine("a run that is disturbed ends as one that was not (skipped where `npm run setup` has not run)", () => {
  let undisturbed: Outcome;

  beforeAll(async () => {
    const finished = await begin().finished;
    const summary = finished.events.find(({ event }) => event === "summary");
    expect([finished.code, summary?.["status"], finished.stderr]).toEqual([0, "finished", expect.anything()]);
    undisturbed = outcomeOf(summary?.["directory"] as string);
    // The comparison would say nothing about a model that did not learn.
    const norms = undisturbed.metrics.flatMap((row) => (row as { metrics?: Record<string, number> }).metrics?.["optim/grad_norm"] ?? []);
    expect(norms).toHaveLength(LAST_STEP);
    expect(norms.every((norm) => norm > 0)).toBe(true);
  }, 300_000);

  test("kill -9 of the environment server: sampling waits, the server is started again, no episode is lost", async () => {
    const mrlm = begin();
    for (const [kills, step] of [18, 21].entries()) {
      await mrlm.event(afterStep(step));
      process.kill(mrlm.pids("server")[kills] as number, "SIGKILL");
      await mrlm.said("The environment server ended by SIGKILL; starting it again");
      while (mrlm.pids("server").length < kills + 2 && mrlm.child.exitCode === null) await sleep(20);
    }
    const { code, stderr } = await mrlm.finished;
    expect([code, stderr]).toEqual([0, expect.stringContaining("The environment server is up again")]);
    expect(mrlm.pids("server")).toHaveLength(3);
    expect(outcomeOf(await directoryOf(mrlm))).toEqual(undisturbed);
  }, 300_000);

  test("numerics 52, 53: the engine killed, Ctrl-C, Ctrl-C twice, kill -9 of every process: resumed each time, the result is bit-identical", async () => {
    const first = begin();
    await first.event(afterStep(3));
    process.kill(first.pids("engine")[0] as number, "SIGKILL");
    const failed = await first.finished;
    const directory = await directoryOf(first);
    expect([failed.code, errorOf(failed)]).toEqual([1, expect.objectContaining({ code: "ENGINE_EXITED", message: expect.stringContaining("killed by SIGKILL"), hint: expect.stringContaining(`--resume ${directory}`) })]);
    expect(resumed(failed.stderr)).toBe(directory);
    const resume = (): Mrlm => new Mrlm(["train", "--json", "--resume", resumed(failed.stderr)]);

    const drained = resume();
    await drained.event(afterStep(12));
    drained.child.kill("SIGINT");
    const stopped = await drained.finished;
    const summary = stopped.events.find(({ event }) => event === "summary");
    expect([stopped.code, summary?.["status"], stopped.stderr]).toEqual([130, "stopped", expect.stringContaining("finishing this iteration")]);
    expect(stopped.events.findLast(({ event }) => event === "checkpoint")?.["step"]).toBe(summary?.["steps"]);

    const hasty = resume();
    await hasty.event(afterStep(19));
    hasty.child.kill("SIGINT");
    await hasty.said("again to stop at once");
    hasty.child.kill("SIGINT");
    const ended = await hasty.finished;
    expect([ended.code, resumed(ended.stderr)]).toEqual([130, directory]);
    await gone([...hasty.pids("server"), ...hasty.pids("engine")]);

    const killed = resume();
    const [step, milliseconds] = [20 + Math.floor(4 * Math.random()), 150 * Math.random()];
    await killed.event(afterStep(step));
    await sleep(milliseconds);
    for (const pid of [killed.child.pid as number, ...killed.pids("server"), ...killed.pids("engine")]) process.kill(pid, "SIGKILL");
    expect((await killed.finished).signal).toBe("SIGKILL");

    const last = await resume().finished;
    expect([last.code, last.stderr]).toEqual([0, expect.stringContaining("resumed after step")]);
    // The instant of the kill is in the message of a failure.
    expect({ step, milliseconds, ...outcomeOf(directory) }).toEqual({ step, milliseconds, ...undisturbed });
  }, 600_000);
});
