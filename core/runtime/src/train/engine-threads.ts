import type { ResolvedConfig } from "../config/resolved-config.ts";
import { readConfig } from "./model-source.ts";

/** Up to this hidden size a second thread costs more in hand-overs than it computes (measured in benchmarks/train: a step of a 128-wide model
 * takes 2.9 s on one thread, and 3.1 s and 40 % more CPU on two). */
const NARROW = 256;

/** CPU threads for an engine that holds this model: what the configuration says, one for a narrow model, else torch's own choice. */
export function engineThreads({ engine, model }: Pick<ResolvedConfig, "engine" | "model">): number | undefined {
  if (engine.threads !== undefined) return engine.threads;
  const hidden = hiddenSize(model);
  return hidden !== undefined && hidden <= NARROW ? 1 : undefined;
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
