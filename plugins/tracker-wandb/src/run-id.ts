import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The id by which W&B knows a run, kept in the run's directory: a run that is resumed goes on under it. */
export function runId(run: string): string {
  const file = join(run, "wandb", "run-id");
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    const id = randomBytes(6).toString("hex");
    mkdirSync(join(run, "wandb"), { recursive: true });
    writeFileSync(file, `${id}\n`);
    return id;
  }
}
