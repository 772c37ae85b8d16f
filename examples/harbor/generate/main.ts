/**
 * Writes tasks with a planted fault, in the form of those in examples/harbor/tasks.
 *
 *     npx node --conditions=mrlm-source examples/harbor/generate/main.ts FOLDER [--count 100] [--seed 0]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { repairTask } from "./repair-task.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string", default: "100" }, seed: { type: "string", default: "0" } },
});
const [folder] = positionals;
const [count, seed] = [values.count, values.seed].map(Number) as [number, number];
if (folder === undefined || !Number.isSafeInteger(seed) || !Number.isSafeInteger(count) || count < 1)
  throw new Error("State a folder, and whole numbers: main.ts FOLDER [--count 100] [--seed 0]");
for (let index = 0; index < count; index++) {
  const { name, files } = repairTask(seed, index);
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: path.endsWith(".sh") ? 0o755 : 0o644 });
  }
}
process.stdout.write(`Wrote ${count} tasks to ${folder}.\n`);
