import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Fault of a resume: it skips the batch after a checkpoint, or learns the batch before it once more. */
export type PlantedFault = "skipped" | "twice";

/** Changes the newest checkpoints of a run such that its resume has a fault. */
export function plant(fault: PlantedFault, run: string): void {
  const directory = join(run, "checkpoints");
  const [before, newest] = readdirSync(directory)
    .filter((name) => /^\d+-\d$/.test(name))
    .sort()
    .slice(-2)
    .map((name) => join(directory, name)) as [string, string];
  const [from, into] = fault === "twice" ? [before, newest] : [newest, before];
  copyProgress(from, into);
  if (fault === "skipped") rmSync(newest, { recursive: true });
}

/** Copies the part of a checkpoint's state that states which batch comes next. */
function copyProgress(from: string, into: string): void {
  const { learners } = readJson(join(from, "state.json"));
  const content = JSON.stringify({ ...readJson(join(into, "state.json")), learners });
  writeFileSync(join(into, "state.json"), content);
  const manifest = readJson(join(into, "manifest.json"));
  const described = { bytes: Buffer.byteLength(content), sha256: createHash("sha256").update(content).digest("hex") };
  const files = { ...(manifest["files"] as object), "state.json": described };
  writeFileSync(join(into, "manifest.json"), JSON.stringify({ ...manifest, files }));
}

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
}
