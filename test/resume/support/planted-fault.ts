import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@mrlm/spec";

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
  if (fault === "twice") return setTasks(newest, tasksOf(before));
  setTasks(before, tasksOf(newest));
  rmSync(newest, { recursive: true });
}

/** Returns the part of a checkpoint's state that states which batch comes next. */
function tasksOf(checkpoint: string): unknown {
  return (readJson(join(checkpoint, "state.json"))["algorithm"] as JsonObject)["tasks"];
}

function setTasks(checkpoint: string, tasks: unknown): void {
  const state = readJson(join(checkpoint, "state.json"));
  const content = JSON.stringify({ ...state, algorithm: { ...(state["algorithm"] as JsonObject), tasks } });
  writeFileSync(join(checkpoint, "state.json"), content);
  const manifest = readJson(join(checkpoint, "manifest.json"));
  const described = { bytes: Buffer.byteLength(content), sha256: createHash("sha256").update(content).digest("hex") };
  const files = { ...(manifest["files"] as JsonObject), "state.json": described };
  writeFileSync(join(checkpoint, "manifest.json"), JSON.stringify({ ...manifest, files }));
}

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
}
