import type { ResolvedConfig } from "../config/resolved-config.ts";
import { readConfig } from "./model-source.ts";

/** Up to this hidden size one operation is too small for several threads, which then train by lanes: parts of a micro-batch, one
 * thread each (ADR 0008, lanes). */
const NARROW = 256;
/** Lanes of a narrow model. They decide about the last bits of results, so they are as many on every machine, however many cores it has. */
const LANES = 2;

/** What an engine is started with. */
export interface EngineThreads {
  /** Of torch's pool, in each lane; torch's own choice where left out. */
  readonly threads?: number;
  /** Default 1. */
  readonly lanes?: number;
}

/**
 * CPU threads for an engine that holds this model. As many as the configuration says: lanes for a narrow model, torch's pool for a wide one. Without
 * a word from it, two lanes or torch's own choice. Ranks are lanes already, so each of several has one.
 */
export function engineThreads({
  engine,
  model,
  distributed,
}: Pick<ResolvedConfig, "engine" | "model" | "distributed">): EngineThreads {
  const hidden = hiddenSize(model);
  const isNarrow = hidden !== undefined && hidden <= NARROW;
  const isAlone = distributed.nproc_per_node * distributed.nnodes === 1;
  if (isNarrow && isAlone) return { threads: 1, lanes: engine.threads ?? LANES };
  const threads = engine.threads ?? (isNarrow ? 1 : undefined);
  return threads === undefined ? {} : { threads };
}

function hiddenSize({ path, random }: ResolvedConfig["model"]): number | undefined {
  const given = random?.config ?? path;
  if (given === undefined) return undefined;
  try {
    const size = (typeof given === "string" ? readConfig(given) : given)["hidden_size"];
    return typeof size === "number" ? size : undefined;
  } catch {
    return undefined; // Whoever makes the model says what is wrong with the file.
  }
}
