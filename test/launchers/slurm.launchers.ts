// npm run test:launchers: the Slurm script, with an srun that starts its commands on this machine.
import { expect, test } from "@jest/globals";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describeWithEngine, installed } from "../e2e/support/engine.ts";
import { freePort } from "../../benchmarks/ports/free-port.ts";
import { COMMAND, ROOT, run } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { gone, processTree } from "../e2e/support/process-tree.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { TINY, writeConfig } from "../e2e/support/tiny-run.ts";
import { runIn } from "./support/launched-run.ts";

describeWithEngine("a job of Slurm (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();

  test("stops by SIGTERM, continues in the next job, and has the weights of a run of one process", async () => {
    const [sft, grpo] = TINY.stages;
    const common = {
      ...TINY,
      play: { mode: "pipelined", lag: 1, cohorts: 4 },
      stages: [sft, { ...grpo, steps: 60, mismatch: "truncate" }],
      eval: { tasks: 0 },
      checkpoint: { every: 10 },
      server: {},
    };
    const alone = join(directory, "alone");
    const plain = writeConfig(directory, common, "plain.yaml");
    expect(await run(["train", "--config", plain, "--output", alone])).toMatchObject({ code: 0 });

    const output = join(directory, "job");
    const [enginePort, storePort] = [await freePort(), await freePort()];
    const engine = { ...TINY.engine, address: `127.0.0.1:${enginePort}`, token_file: join(output, "token") };
    const config = writeConfig(directory, { ...common, engine }, "job.yaml");
    const env = {
      ...process.env,
      NODE_OPTIONS: "",
      PATH: `${join(ROOT, "test/launchers/slurm")}${delimiter}${process.env["PATH"]}`,
      PYTHONPATH: join(ROOT, "algorithms/engine-torch/python"),
      MRLM: `${process.execPath} ${COMMAND}`,
      MRLM_ENGINE_PYTHON: installed?.executable,
      // Those with which a run starts the engine of such a model.
      MRLM_ENGINE_ARGS: "--threads 1 --lanes 2",
      MRLM_ENGINE_PORT: String(enginePort),
      MRLM_STORE_PORT: String(storePort),
      SLURM_JOB_NODELIST: "localhost",
      SLURM_JOB_NUM_NODES: "3",
    };
    let log = "";
    const job = (): ChildProcess => {
      const child = spawn("bash", ["deploy/slurm/train.sbatch", config, output], { cwd: ROOT, env });
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => (log += text));
      return child;
    };
    const printed = async (child: ChildProcess, text: RegExp): Promise<void> => {
      while (!text.test(log)) {
        if (child.exitCode !== null) throw new Error(`The job ended:\n${log}`);
        await delay(20);
      }
    };

    const first = job();
    const firstEnd = once(first, "close");
    await printed(first, /plays for localhost:\d+[^]*plays for localhost:\d+/);
    await printed(first, /grpo 1\/60/);
    const tree = processTree(first.pid as number);
    first.kill("SIGTERM");
    expect([(await firstEnd)[0], log.slice(-2000)]).toEqual([130, expect.anything()]);
    await gone(tree);
    const steps = readFileSync(join(runIn(output), "metrics.jsonl"), "utf8")
      .trim()
      .split("\n").length;
    expect(steps).toBeLessThan(78);

    log = "";
    const [code] = (await once(job(), "close")) as [number];
    expect([code, log.slice(-2000)]).toEqual([0, expect.anything()]);
    expect(outcomeOf(runIn(output)).weights).toBe(outcomeOf(runIn(alone)).weights);
  }, 170_000);
});
