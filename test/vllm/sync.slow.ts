// A run in mode sync whose sequences a server of vLLM draws on the trainer's GPU. It is killed while it sleeps, wakes, reads weights and draws.
import { afterEach, expect, test } from "@jest/globals";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectEngine, SamplerPool } from "@mrlm/client";
import { grpo } from "@mrlm/grpo";
import { silentLogger } from "@mrlm/kit/service";
import { ProvedSampler } from "@mrlm/runtime";
import { vllm } from "@mrlm/sampler-vllm";
import { serveEngine, serveSampler } from "@mrlm/server";
import { score } from "@mrlm/spec";
import { lettersEnvironment, trainBigram } from "@mrlm/testing";
import { vllmOptions } from "../../plugins/sampler-vllm/src/options.ts";
import { DirectoryTrainer } from "./support/directory-trainer.ts";
import { FakeVllm } from "./support/fake-vllm.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const STEPS = 4;
const GROUPS = 2;

/** Trains with a server that is killed once, when half of the steps are played. Returns the versions of the tokens of each step. */
async function trained(kill?: readonly [path: string, when: "before" | "after"]) {
  const trainer = new DirectoryTrainer({ deterministic: false });
  const engineServer = await serveEngine({ engine: trainer, address: "127.0.0.1:0" });
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (line: string) => lines.push(line) };
  const pool = new SamplerPool({
    ...{ logger, exact: false, newest: true, sleeps: true, trainerSamples: false },
    ...{ pauseMs: 20, waitMs: 60_000 },
  });
  const engine = await connectEngine(`127.0.0.1:${engineServer.port}`, { samplers: pool });
  const fake = await new FakeVllm({ vocabSize: 16, logits: new Float64Array(256) }).start();
  const options = vllmOptions.parse({ sleep: true });
  const sampler = new ProvedSampler({
    sampler: await vllm.open({ url: fake.url, options, signal: AbortSignal.timeout(9_000) }),
    directory: mkdtempSync(join(tmpdir(), "mrlm-sync-")),
    logger: silentLogger,
    connect: async () => trainer,
  });
  const served = await serveSampler({ sampler, address: "127.0.0.1:0" });
  pool.add({ name: "vllm", address: `127.0.0.1:${served.port}` });
  closing.push(
    () => engineServer.close(),
    () => engine.close(),
    () => pool.close(),
    () => fake.close(),
    () => sampler.close(),
    () => served.close(),
  );
  let scored = 0;
  const environment = lettersEnvironment({
    reward: (text) => {
      if (++scored === (STEPS * GROUPS * 4) / 2 - 2 && kill !== undefined) fake.killAt(...kill);
      return score([...text].filter((letter) => letter === "a").length);
    },
  });
  const { summary, played } = await trainBigram({
    algorithms: [grpo],
    environments: [environment],
    engine,
    config: { play: { mode: "sync" }, sampling: { max_tokens: 8 }, checkpoint: { every: 0 } },
    stages: [{ algorithm: "grpo", steps: STEPS, prompts_per_step: GROUPS, group_size: 4, learning_rate: 0.3 }],
  });
  const segments = ({ trajectories }: (typeof played)[number][number]) =>
    trajectories.flatMap(({ agents }) => Object.values(agents).flatMap((agent) => agent.segments));
  // Tokens of prompts have the version -1.
  const drawn = played.map((groups) => groups.flatMap(segments).flatMap((segment) => [...segment.versions]));
  const versions = drawn.map((each) => [...new Set(each.filter((version) => version >= 0))]);
  return { summary, played, versions, lines, fake };
}

const PHASES = [
  undefined,
  ["/sleep?level=1", "after"],
  ["/wake_up?tags=weights", "before"],
  ["/collective_rpc", "before"],
  ["/collective_rpc", "after"],
  ["/wake_up?tags=kv_cache", "after"],
  ["/update_weight_version", "after"],
  ["/inference/v1/generate", "before"],
  ["/inference/v1/generate", "after"],
] as const;

test.each(PHASES.map((kill) => [kill?.join(", ") ?? "never", kill] as const))(
  "killed %s: every group is learnt from, and each token is of the weights that its step published",
  async (_, kill) => {
    const { summary, played, versions, lines, fake } = await trained(kill);
    expect(summary.status).toBe("finished");
    expect(played.map((groups) => groups.length)).toEqual(Array.from({ length: STEPS }, () => GROUPS));
    expect(versions).toEqual(Array.from({ length: STEPS }, (_, step) => [step + 1]));
    // The server drew them all, and slept while the trainer learnt.
    expect(lines.filter((line) => line.startsWith("no sampler served"))).toEqual([]);
    expect(fake.requests.filter((path) => path.startsWith("/sleep")).length).toBeGreaterThanOrEqual(STEPS - 1);
    expect(lines.some((line) => line.includes("[SAMPLER_UNAVAILABLE]"))).toBe(kill !== undefined);
  },
  60_000,
);
