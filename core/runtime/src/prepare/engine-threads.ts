import { trainedPolicies } from "../config/policies.ts";
import type { ResolvedConfig, ResolvedModel } from "../config/resolve-config.ts";
import { readConfig } from "./model-source.ts";

/**
 * Largest hidden size at which one operation is too small for several threads. Such models train by lanes: parts of a micro-batch, one thread each
 * (ADR 0008, lanes).
 */
const NARROW = 256;
/** Lanes of a narrow model. Their number affects the last bits of results, so it does not depend on the number of cores. */
const LANES = 2;

/** Thread options with which an engine is started. */
export interface EngineThreads {
  /** Threads of torch's pool in each lane; default: torch's choice. */
  readonly threads?: number;
  /** Default 1. */
  readonly lanes?: number;
}

/**
 * Returns the CPU threads of an engine for this model. `engine.threads` sets the number of lanes of a narrow model and the size of torch's pool for a wide
 * one. The default is two lanes or torch's choice. With several ranks each has one lane, since ranks already run in parallel.
 */
export function engineThreads({
  engine,
  policies,
  distributed,
}: Pick<ResolvedConfig, "engine" | "policies" | "distributed">): EngineThreads {
  // Lanes are of all models alike: one wide model needs the threads.
  const isNarrow = trainedPolicies({ policies }).every(({ model }) => (hiddenSize(model) ?? Infinity) <= NARROW);
  const isAlone = distributed.nproc_per_node * distributed.nnodes === 1;
  if (isNarrow && isAlone) return { threads: 1, lanes: engine.threads ?? LANES };
  const threads = engine.threads ?? (isNarrow ? 1 : undefined);
  return threads === undefined ? {} : { threads };
}

function hiddenSize({ path, random }: ResolvedModel): number | undefined {
  const given = random?.config ?? path;
  if (given === undefined) return undefined;
  try {
    const size = (typeof given === "string" ? readConfig(given) : given)["hidden_size"];
    return typeof size === "number" ? size : undefined;
  } catch {
    return undefined; // Creating the model reports the fault of the file.
  }
}
