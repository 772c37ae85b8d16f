// The example `vllm` by its commands, with a real server that is killed while it plays.
import { afterAll, expect, test } from "@jest/globals";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomStream } from "@mrlm/kit";
import { RunDirectory } from "@mrlm/runtime";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { Mrlm } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf } from "../learning/support/evaluations.ts";
import { batchLogOf } from "../resume/support/batch-log.ts";
import { directoryIn } from "../resume/support/kill-often.ts";
import { groupCounts, sampledTokens } from "./support/played.ts";
import { INSTALL_MS, VllmProcess, vllmPython } from "../../benchmarks/async/vllm-process.ts";

const SEED = Number(process.env["FAULTS_SEED"] ?? 0);
const PROMPTS = 32;
const TEST_MS = 2_400_000;
/** Modes of play. Fewer steps than the 80 of the example: the server needs minutes for each start. */
const MODES = [
  // Groups that are open at a time: by the lag of the example, and of one batch.
  { mode: "async", kills: 5, steps: 50, accuracy: 0.92, open: (4 + 1) * PROMPTS, set: [] },
  {
    ...{ mode: "sync", kills: 2, steps: 16, accuracy: 0.75, open: 0 },
    set: ["--set", "play={mode: sync}", "--set", "engine.mode=throughput"],
  },
];

describeWithEngine("a run through vLLM (skipped where `npm run setup` has not run)", () => {
  const outputs = temporaryDirectory();
  const commands: Mrlm[] = [];
  let server: VllmProcess | undefined;
  const random = randomStream("vllm", SEED);

  afterAll(async () => {
    await server?.kill();
    for (const { child } of commands) child.kill("SIGKILL");
  });

  const begin = (...args: string[]): Mrlm => {
    const command = new Mrlm(args);
    commands.push(command);
    return command;
  };

  test.each(MODES)(
    "$mode: the server draws every token and is killed $kills times: greedy accuracy of $accuracy, each group in one batch",
    async ({ mode, kills, steps, accuracy, open, set }) => {
      const output = join(outputs, mode);
      // Tokens of every step stay in the store, to be counted.
      const changes = ["--set", `stages.1.steps=${steps}`, "--set", "store.keep_tokens=1000", ...set];
      server = await VllmProcess.create(await vllmPython(), { maxTokens: 64 });
      const config = join("examples", "vllm", "vllm.yaml");
      const training = begin("train", "--json", "--config", config, "--output", output, ...changes);
      await training.event(({ event, role }) => event === "process" && role === "engine");
      const run = directoryIn(output) as string;
      const sampling = begin(
        "sample",
        "--json",
        "--run",
        run,
        "--name",
        "vllm",
        "--plugin",
        "vllm",
        "--url",
        server.url,
      );
      await sampling.printed("start its server with the model");
      const weights = join(RunDirectory.open(run).samplerLogs("vllm"), "weights", "start");
      await server.start(weights);
      for (let kill = 0; kill < kills; kill++) {
        const after = Math.floor(((kill + random.next()) * steps) / (kills + 1));
        await training.event(
          ({ event, name, iteration }) => event === "iteration" && name === "grpo" && Number(iteration) > after,
        );
        await sleep(random.integer(0, 3_000));
        await server.kill();
        await server.start(weights);
      }
      const trained = await training.finished;
      const sampled = await sampling.finished;
      await server.kill();
      expect([trained.code, sampled.code, trained.code === 0 ? "" : trained.stderr]).toEqual([0, 0, ""]);

      const [start, warm, last] = evaluationsOf(trained.events);
      const { tokens, versions } = sampledTokens(run);
      const groups = groupCounts(run);
      console.info({
        start,
        warm,
        last,
        drawn: server.drawn,
        tokens,
        groups,
        trainingSeconds: trained.events.at(-1)?.["trainingSeconds"],
      });
      expect(last?.greedy).toBeGreaterThanOrEqual(accuracy);
      // Played by the server alone, with weights that a probe has proved.
      expect(trained.stderr).not.toContain("no sampler served within");
      expect(server.drawn).toBeGreaterThanOrEqual(tokens);
      const proved = new Set(
        Array.from(sampled.stderr.matchAll(/version (\d+) of "policy" is proved/g), ([, v]) => Number(v)),
      );
      expect(versions.filter((version) => !proved.has(version))).toEqual([]);
      expect(groups).toMatchObject({ learnt: steps * PROMPTS, twice: 0, failed: 0 });
      // Groups in no batch were opened ahead: a lost one would be older.
      expect(groups.left).toBeLessThanOrEqual(open);
      expect(groups.openedSinceLeft).toBeLessThanOrEqual(2 * open);
      expect(batchLogOf(run)).toMatchObject({ abandoned: 0, open: 0 });
    },
    INSTALL_MS + TEST_MS,
  );
});
