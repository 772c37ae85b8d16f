// A run whose samplers are two vLLM servers, one of which becomes faulty: it is named and taken out of service, and the run continues.
import { afterEach, expect, test } from "@jest/globals";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectEngine, SamplerPool } from "@mrlm/client";
import { grpo } from "@mrlm/grpo";
import { silentLogger } from "@mrlm/kit/service";
import { ProvedSampler } from "@mrlm/runtime";
import { vllm } from "@mrlm/sampler-vllm";
import { vllmOptions } from "../../plugins/sampler-vllm/src/options.ts";
import { serveEngine, serveSampler } from "@mrlm/server";
import { score } from "@mrlm/spec";
import { lettersEnvironment, trainBigram } from "@mrlm/testing";
import { DirectoryTrainer } from "./support/directory-trainer.ts";
import { FakeVllm, type Fault } from "./support/fake-vllm.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** An engine behind a socket, with a pool of samplers that waits for the first of them. */
async function started() {
  const trainer = new DirectoryTrainer({ deterministic: false });
  const served = await serveEngine({ engine: trainer, address: "127.0.0.1:0" });
  const lines: string[] = [];
  const logger = {
    ...silentLogger,
    info: (line: string) => lines.push(line),
    warn: (line: string) => lines.push(line),
  };
  const pool = new SamplerPool({ logger, exact: false, trainerSamples: false, pauseMs: 20, waitMs: 60_000 });
  const engine = await connectEngine(`127.0.0.1:${served.port}`, { samplers: pool });
  closing.push(
    () => served.close(),
    () => engine.close(),
    () => pool.close(),
  );
  return { trainer, engine, pool, lines };
}

/** Adds a server as a sampler, as `mrlm sample --plugin vllm` does. */
async function addServer(
  name: string,
  { trainer, pool }: Awaited<ReturnType<typeof started>>,
  limits: object = {},
): Promise<FakeVllm> {
  const fake = await new FakeVllm({ vocabSize: 16, logits: new Float64Array(256) }).start();
  const options = vllmOptions.parse(limits);
  const sampler = new ProvedSampler({
    sampler: await vllm.open({ url: fake.url, options, signal: AbortSignal.timeout(9_000) }),
    directory: mkdtempSync(join(tmpdir(), "mrlm-faulty-")),
    logger: silentLogger,
    connect: async () => trainer,
  });
  const served = await serveSampler({ sampler, address: "127.0.0.1:0" });
  pool.add({ name, address: `127.0.0.1:${served.port}` });
  closing.push(
    () => fake.close(),
    () => sampler.close(),
    () => served.close(),
  );
  return fake;
}

test.each<[Fault | "restarted", string]>([
  ["log-probabilities wrong", "SAMPLER_PROBE_FAILED"],
  ["reload ignored", "SAMPLER_PROBE_FAILED"],
  ["version wrong", "SAMPLER_INVALID"],
  ["log-probability missing", "SAMPLER_INVALID"],
  ["stalled", "SAMPLER_UNAVAILABLE"],
  ["slow", "SAMPLER_UNAVAILABLE"],
  ["restarted", "SAMPLER_UNAVAILABLE"],
])(
  "%s: one of two servers is out of service with %s, and the run continues with the other one",
  async (fault, code) => {
    const parts = await started();
    const limits = fault === "stalled" ? { stall_seconds: 0.4 } : fault === "slow" ? { sequence_seconds: 0.3 } : {};
    const [faulty, sound] = [await addServer("faulty", parts, limits), await addServer("sound", parts)];
    let [scored, before] = [0, 0];
    const environment = lettersEnvironment({
      reward: (text) => {
        if (++scored === 8) {
          before = sound.requests.length;
          if (fault === "restarted") faulty.restart();
          else faulty.fault = fault;
        }
        return score([...text].filter((letter) => letter === "a").length);
      },
    });
    const { summary } = await trainBigram({
      algorithms: [grpo],
      environments: [environment],
      engine: parts.engine,
      config: { play: { mode: "async", lag: 1 }, sampling: { max_tokens: 8 }, checkpoint: { every: 0 } },
      stages: [
        { algorithm: "grpo", steps: 4, prompts_per_step: 2, group_size: 4, learning_rate: 0.3, mismatch: "truncate" },
      ],
    });
    expect(summary.status).toBe("finished");
    expect(parts.lines).toContainEqual(
      expect.stringMatching(new RegExp(`^sampler faulty at \\S+ is out of service: \\[${code}\\]`)),
    );
    // A busy machine may answer late, which is no fault of the contract.
    expect(parts.lines.filter((line) => /^sampler sound .*\[SAMPLER_(INVALID|PROBE_FAILED)\]/.test(line))).toEqual([]);
    expect(parts.lines.join("\n")).not.toContain("no sampler served within");
    expect(sound.requests.length).toBeGreaterThan(before);
  },
);
