import { beforeAll, expect, test } from "@jest/globals";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describeWithEngine } from "./support/engine.ts";
import { type Event, type Finished, Mrlm } from "./support/mrlm.ts";
import { type Outcome, outcomeOf } from "./support/outcome.ts";
import { gone, killAll, processTree } from "./support/process-tree.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const output = temporaryDirectory();
/** All four algorithms, with a critic of its own and pairs that are collected twice. */
const config = writeConfig(output, {
  ...TINY,
  stages: [
    TINY.stages[0],
    { ...TINY.stages[1], steps: 5 },
    {
      algorithm: "ppo@1",
      steps: 4,
      prompts_per_step: 4,
      group_size: 4,
      updates_per_step: 2,
      minibatches: 2,
      kl_coefficient: 0.05,
      kl_target: 0.01,
      kl_horizon: 50,
      whiten_advantages: true,
      learning_rate: 1e-3,
      critic_learning_rate: 1e-2,
    },
    {
      algorithm: "dpo@1",
      steps: 12,
      prompts: 8,
      group_size: 4,
      batch_size: 4,
      collect_every: 5,
      reference: "precomputed",
      learning_rate: 1e-3,
    },
  ],
  eval: { tasks: 4 },
});
const STEPS = 39;

const begin = (): Mrlm => new Mrlm(["train", "--json", "--config", config, "--output", output]);
const afterStep =
  (step: number) =>
  (event: Event): boolean =>
    event.event === "iteration" && (event["step"] as number) >= step;
const only = ({ events }: Finished, name: string): Event | undefined => events.find(({ event }) => event === name);
/** Returns the directory in a line about resuming. */
const resumed = (text: string): string => /npx mrlm train --resume (\S+)/.exec(text)?.[1] ?? "no resume line";

describeWithEngine(
  "a run that is disturbed ends as one that was not (skipped where `npm run setup` has not run; more kills: npm run test:resume)",
  () => {
    let undisturbed: Outcome;
    let finishedRun: string;

    beforeAll(async () => {
      const finished = await begin().finished;
      const summary = only(finished, "summary");
      expect([finished.code, summary?.["status"], finished.stderr]).toEqual([0, "finished", expect.anything()]);
      finishedRun = summary?.["directory"] as string;
      undisturbed = outcomeOf(finishedRun);
      // The comparison would be void for a model that did not learn.
      const norms = undisturbed.metrics.flatMap(
        (row) => (row as { metrics?: Record<string, number> }).metrics?.["optim/grad_norm"] ?? [],
      );
      expect(norms).toHaveLength(STEPS);
      expect(norms.slice(0, 18).every((norm) => norm > 0)).toBe(true);
      expect(norms.slice(18).some((norm) => norm > 0)).toBe(true);
    }, 300_000);

    test("a replay of a run whose environment server is gone begins, prints its progress, and ends by Ctrl-C without an error", async () => {
      const copy = join(output, "replayed");
      cpSync(finishedRun, copy, { recursive: true });
      const file = join(copy, "config.yaml");
      const text = readFileSync(file, "utf8");
      const gone = text.replace(/^server:\n/m, "server:\n  address: 127.0.0.1:1\n");
      expect(gone).not.toBe(text);
      writeFileSync(file, gone);
      const replay = new Mrlm(["replay", copy, "--from", "start"]);
      await replay.printed(`replay 1/${STEPS}  `);
      replay.child.kill("SIGINT");
      const { code, stdout, stderr } = await replay.finished;
      expect([code, stdout]).toEqual([130, ""]);
      expect(stderr).toMatch(/stopping \(again to stop at once\)\n$/);
    });

    test("N3: an evaluation that is stopped by Ctrl-C prints the table of what has ended, and keeps its episodes in the store", async () => {
      const runs = join(output, "stopped");
      const kept = (): number => {
        try {
          const [name = ""] = readdirSync(runs);
          const database = new DatabaseSync(join(runs, name, "episodes.sqlite"), { readOnly: true });
          const row = database.prepare("select count(*) as n from v_episodes").get() as { n: number };
          database.close();
          return row.n;
        } catch {
          return 0;
        }
      };
      const sizes = ["-n", "8", "--samples", "2000"];
      const flags = ["--model", finishedRun, "--environment", "math", ...sizes, "--set", `output=${runs}`];
      const evaluation = new Mrlm(["eval", ...flags]);
      while (kept() < 8) await sleep(20);
      evaluation.child.kill("SIGINT");
      const { code, stdout, stderr } = await evaluation.finished;
      expect([code, stdout, stderr]).toEqual([
        130,
        expect.stringMatching(/^math@2, 8 tasks[^]*\nepisodes +8\n[^]*\nPartial: the evaluation ended before all/),
        expect.stringMatching(
          /^[^]*plan: 8 tasks, once greedily and 2000 times sampled = 16,008 episodes[^]*error CANCELLED/,
        ),
      ]);
      expect(kept()).toBeGreaterThanOrEqual(8);
    }, 60_000);

    test("numerics 52, 53: engine killed, server killed, Ctrl-C, Ctrl-C twice, kill -9 of the trainer and of every process: the result is bit-identical", async () => {
      const first = begin();
      await first.event(afterStep(3));
      process.kill(first.pids("engine")[0] as number, "SIGKILL");
      const failed = await first.finished;
      const directory = only(failed, "start")?.["directory"] as string;
      expect([failed.code, only(failed, "error")]).toEqual([
        1,
        expect.objectContaining({
          code: "ENGINE_EXITED",
          message: expect.stringContaining("killed by SIGKILL"),
          hint: expect.stringContaining(`--resume ${directory}`),
        }),
      ]);
      expect(resumed(failed.stderr)).toBe(directory);
      const resume = (): Mrlm => new Mrlm(["train", "--json", "--resume", directory]);

      // Sampling waits until the server is ready again, and no episode is lost; then the run is stopped in order.
      const drained = resume();
      await drained.event(afterStep(18));
      process.kill(drained.pids("server")[0] as number, "SIGKILL");
      await drained.printed("The environment server ended by SIGKILL; restarting it");
      await drained.printed("The environment server is ready again");
      drained.child.kill("SIGINT");
      const stopped = await drained.finished;
      const summary = only(stopped, "summary");
      expect([stopped.code, summary?.["status"], stopped.stderr]).toEqual([
        130,
        "stopped",
        expect.stringContaining("finishing this iteration"),
      ]);
      expect(stopped.events.findLast(({ event }) => event === "checkpoint")?.["step"]).toBe(summary?.["steps"]);
      expect(drained.pids("server")).toHaveLength(2);

      const hasty = resume();
      await hasty.event(afterStep(22));
      const hastyTree = processTree(hasty.child.pid as number);
      hasty.child.kill("SIGINT");
      await hasty.printed("again to stop at once");
      hasty.child.kill("SIGINT");
      const ended = await hasty.finished;
      expect([ended.code, resumed(ended.stderr)]).toEqual([130, directory]);
      await gone(hastyTree);

      const orphaned = resume();
      await orphaned.event(afterStep(24));
      const orphans = processTree(orphaned.child.pid as number);
      orphaned.child.kill("SIGKILL");
      await orphaned.finished;
      await gone(orphans);

      const killed = resume();
      await killed.event(afterStep(28));
      await sleep(20);
      killAll(processTree(killed.child.pid as number));
      expect((await killed.finished).signal).toBe("SIGKILL");

      const last = await resume().finished;
      expect([last.code, last.stderr]).toEqual([0, expect.stringContaining("resumed after step")]);
      expect(outcomeOf(directory)).toEqual(undisturbed);

      const again = await resume().finished;
      expect([again.code, again.stderr]).toEqual([
        0,
        expect.stringContaining(`The run is finished: nothing is left to do after its ${STEPS} steps`),
      ]);
      expect(only(again, "summary")).toEqual(only(last, "summary"));
    }, 600_000);
  },
);
