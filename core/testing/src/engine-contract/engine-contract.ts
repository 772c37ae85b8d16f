import type { CreateModelOptions, Engine } from "@mrlm/spec";
import { type TestRegistry, registryOf } from "../test-registry.ts";
import { holdingChecks } from "./holding-checks.ts";
import { learningChecks } from "./learning-checks.ts";
import { samplingChecks } from "./sampling-checks.ts";

const PARTS = { holding: holdingChecks, learning: learningChecks, sampling: samplingChecks } as const;

/** What to test, and how closely. */
export interface EngineContractOptions {
  /** Of the group of tests. */
  readonly name: string;
  /** An engine that holds no model, for one test. */
  readonly make: () => Promise<Engine>;
  /** What becomes of it after the test; it is closed unless given. */
  readonly dispose?: (engine: Engine) => Promise<void>;
  /** A small trainable policy with a value head and a vocabulary of at least 8 tokens. */
  readonly model: CreateModelOptions;
  /** Largest difference of log-probabilities that are computed in two ways; 1e-4 unless given. */
  readonly tolerance?: number;
  /** Which parts to test; all unless given. `learning` compares gradients as precisely as float32 has them. */
  readonly parts?: readonly (keyof typeof PARTS)[];
  readonly timeoutMs?: number;
  /** The global `describe` and `test` (jest) unless given; those of node:test where there are none. */
  readonly registry?: TestRegistry;
}

/**
 * Registers a test for everything that a deterministic engine promises: outputs and their gradients, independence of batches,
 * normalizers, sampling by key, publishing, checkpoints, and what it refuses.
 */
export function engineContract({
  name,
  make,
  model,
  tolerance = 1e-4,
  parts = ["holding", "learning", "sampling"],
  timeoutMs = 60_000,
  ...options
}: EngineContractOptions): void {
  const { dispose = (engine: Engine) => engine.close() } = options;
  const registry = registryOf(options.registry);
  registry.describe(`the contract of ${name}`, () => {
    for (const check of parts.flatMap((part) => PARTS[part])) {
      const run = async (): Promise<void> => {
        const engine = await make();
        try {
          await engine.createModel(model);
          await check.run({ engine, model, tolerance });
        } finally {
          await dispose(engine);
        }
      };
      registry.test(check.name, run, timeoutMs);
    }
  });
}
