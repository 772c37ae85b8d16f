import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the id of a run in W&B. A file in the directory of the run keeps it, so that a resumed run has the same id. */
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
