import type { AlgorithmDefinition, EngineSequence } from "@mrlm/spec";
import { z } from "zod";

const options = z.strictObject({ steps: z.int().positive(), data: z.string().optional() });

/** Learns to repeat one token. Like SFT it neither plays episodes nor publishes weights. */
export const imitate: AlgorithmDefinition<z.output<typeof options>> = {
  id: "imitate@1",
  description: "Imitation, for tests.",
  options,
  iterations: ({ steps }) => steps,
  async create({ engine, policy, rows }, { steps, data }) {
    if (data !== undefined) await rows(data);
    const sequence: EngineSequence = { tokens: Int32Array.of(3, 4, 4), mask: Uint8Array.of(0, 1, 1) };
    let iteration = 0;
    return {
      async *run() {
        while (iteration < steps) {
          await engine.forwardBackward({
            model: policy,
            units: [{ sequences: [sequence] }],
            outputs: { logprob: true },
            normalizer: 2,
            loss: [{ logprob: Float32Array.of(-1, -1) }],
          });
          await engine.optimStep({ model: policy, learningRate: 0.1 });
          yield { iteration: ++iteration, metrics: {}, seconds: {} };
        }
      },
      state: () => ({ iteration }),
      restore: (state) => void (iteration = Number(state["iteration"])),
    };
  },
};
