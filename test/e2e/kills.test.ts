import { expect, test } from "@jest/globals";
import { setTimeout as sleep } from "node:timers/promises";
import { describeWithEngine } from "./support/engine.ts";
import { Mrlm, run } from "./support/mrlm.ts";
import { outcomeOf } from "./support/outcome.ts";
import { gone, killAll, processTree } from "./support/process-tree.ts";
import { temporaryDirectory, TINY, writeConfig } from "./support/tiny-run.ts";

const output = temporaryDirectory();
/** SFT, then PPO with a critic of its own and all that adapts in it, then DPO from pairs that are collected twice. */
const config = writeConfig(output, {
  ...TINY,
  stages: [
    TINY.stages[0],
    { algorithm: "ppo@1", steps: 4, prompts_per_step: 4, group_size: 4, updates_per_step: 2, minibatches: 2, kl_coefficient: 0.05, kl_target: 0.01, kl_horizon: 50, whiten_advantages: true, learning_rate: 1e-3, critic_learning_rate: 1e-2 },
    { algorithm: "dpo@1", steps: 9, prompts: 8, group_size: 4, batch_size: 4, collect_every: 3, reference: "precomputed", learning_rate: 1e-3 },
  ],
  eval: { tasks: 4 },
  checkpoint: { every: 1 },
});

describeWithEngine("numerics 52, 53: SFT, PPO and DPO, killed in each stage (skipped where `npm run setup` has not run; more kills: npm run test:resume)", () => {
  test("the trainer alone, the whole tree, the trainer while it starts: nothing lives on, and the run ends with the same bits and says that it is finished", async () => {
    const begin = (): Mrlm => new Mrlm(["train", "--json", "--config", config, "--output", output]);
    const undisturbed = begin();
    expect((await undisturbed.finished).code).toBe(0);
    const expected = outcomeOf(await directoryOf(undisturbed));

    const inPpo = begin();
    const directory = await directoryOf(inPpo);
    const milliseconds = [200 * Math.random(), 200 * Math.random(), 1500 * Math.random()] as const;
    await afterStep(inPpo, 19, milliseconds[0]);
    await killTrainer(inPpo);

    const inDpo = new Mrlm(["train", "--json", "--resume", directory]);
    await afterStep(inDpo, 23, milliseconds[1]);
    killAll(processTree(inDpo.child.pid as number));
    await inDpo.finished;

    const starting = new Mrlm(["train", "--json", "--resume", directory]);
    await sleep(milliseconds[2]);
    await killTrainer(starting);

    const last = await run(["train", "--json", "--resume", directory]);
    expect([last.code, last.stderr]).toEqual([0, expect.stringContaining("resumed after step")]);
    // The instants of the kills are in the message of a failure.
    expect({ milliseconds, ...outcomeOf(directory) }).toEqual({ milliseconds, ...expected });

    const again = await run(["train", "--json", "--resume", directory]);
    const summary = (events: typeof again.events) => events.find(({ event }) => event === "summary");
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("The run is finished: nothing is left to do after its 31 steps")]);
    expect(summary(again.events)).toEqual(summary(last.events));
  }, 600_000);
});

async function directoryOf(mrlm: Mrlm): Promise<string> {
  return (await mrlm.event(({ event }) => event === "start"))["directory"] as string;
}

async function afterStep(mrlm: Mrlm, step: number, milliseconds: number): Promise<void> {
  await mrlm.event(({ event, step: done }) => event === "iteration" && (done as number) >= step);
  await sleep(milliseconds);
}

/** kill -9 of `mrlm train` itself; what it has started ends by itself. */
async function killTrainer({ child, finished }: Mrlm): Promise<void> {
  const tree = processTree(child.pid as number);
  child.kill("SIGKILL");
  await finished;
  await gone(tree);
}
