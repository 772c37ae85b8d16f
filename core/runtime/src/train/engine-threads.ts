import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedConfig } from "../config/resolved-config.ts";

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
  const given = random?.config;
  if (typeof given === "object") return numberOf(given["hidden_size"]);
  const file = given ?? (path === undefined ? undefined : join(path, "config.json"));
  if (file === undefined || !existsSync(file)) return undefined;
  try {
    return numberOf((JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>)["hidden_size"]);
  } catch {
    return undefined; // Whoever makes the model says what is wrong with the file.
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
