import type { CreateModelOptions, Engine } from "@mrlm/spec/host";
import { type TestRegistry, registryOf } from "../test-registry.ts";
import { holdingChecks } from "./holding-checks.ts";
import { learningChecks } from "./learning-checks.ts";
import { samplingChecks } from "./sampling-checks.ts";

const PARTS = { holding: holdingChecks, learning: learningChecks, sampling: samplingChecks } as const;

/** Options of {@link engineContract}. */
export interface EngineContractOptions {
  /** Name of the group of tests. */
  readonly name: string;
  /** Returns an engine without models, for one test. */
  readonly make: () => Promise<Engine>;
  /** Releases the engine after the test; default `close`. */
  readonly dispose?: (engine: Engine) => Promise<void>;
  /** Small trainable policy with a value head and a vocabulary of at least 8 tokens. */
  readonly model: CreateModelOptions;
  /** Largest difference of log-probabilities that are computed in two ways; default 1e-4. */
  readonly tolerance?: number;
  /** Parts to test; default all. `learning` compares gradients at the precision of float32. */
  readonly parts?: readonly (keyof typeof PARTS)[];
  readonly timeoutMs?: number;
  /** Default: the global `describe` and `test` of jest, else those of node:test. */
  readonly registry?: TestRegistry;
}

/**
 * Registers tests of the contract of a deterministic engine: outputs and their gradients, independence of batches, normalizers,
 * sampling by key, publication of weights, checkpoints, and refused calls.
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
