import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@mrlm/kit/service";
import { ProvedSampler } from "@mrlm/runtime";
import { vllm } from "@mrlm/sampler-vllm";
import type { SampleRequest, WeightsUpdate } from "@mrlm/spec/host";
import { vllmOptions } from "../../../plugins/sampler-vllm/src/options.ts";
import { DirectoryTrainer } from "./directory-trainer.ts";
import { FakeVllm } from "./fake-vllm.ts";

/** Request of 8 tokens. */
export const ASKED: SampleRequest = {
  prompt: Int32Array.of(1, 2, 3),
  params: { temperature: 1, maxTokens: 8, stopTokenIds: [] },
  key: 5n,
};

/** Starts a server, a trainer and the sampler between them. `next` trains and publishes. */
export async function proved(limits: object = {}) {
  const trainer = new DirectoryTrainer();
  const config = { vocab_size: 16, initializer_range: 1, max_position_embeddings: 1024 };
  const source = { kind: "random", config, seed: 3, tokenizerFiles: {} } as const;
  const { info } = await trainer.createModel({ model: "policy", source, role: "policy", trainable: true });
  const fake = await new FakeVllm({ vocabSize: 16, logits: new Float64Array(256) }).start();
  const options = vllmOptions.parse(limits);
  const inner = await vllm.open({ url: fake.url, options, signal: AbortSignal.timeout(9_000) });
  const directory = mkdtempSync(join(tmpdir(), "mrlm-proved-"));
  const sampler = new ProvedSampler({ sampler: inner, directory, logger: silentLogger, connect: async () => trainer });
  const next = async (): Promise<WeightsUpdate> => {
    const tokens = Int32Array.from({ length: 40 }, (_, i) => (i * 7) % info.vocabSize);
    await trainer.forwardBackward({
      ...{ model: "policy", outputs: { logprob: true }, normalizer: 1 },
      units: [{ sequences: [{ tokens, mask: Uint8Array.from(tokens, (_, i) => (i === 0 ? 0 : 1)) }] }],
      loss: (_, { logprob }) => ({ logprob: Float32Array.from(logprob as Float32Array, () => -1) }),
    });
    await trainer.optimStep({ model: "policy", learningRate: 0.3 });
    const { version, checksum } = await trainer.publish("policy");
    return {
      ...{ model: "policy", version, checksum, inFlight: "recompute" },
      source: { kind: "trainer", address: "trainer:1" },
    };
  };
  return { trainer, fake, sampler, next, directory, closing: [() => sampler.close(), () => fake.close()] };
}
