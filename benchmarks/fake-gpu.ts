/** npm run bench -- fake-gpu [--json]: the engine on a GPU without numbers (tests/fake_gpu of the engine): faults, memory and launches of real sizes. */
import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { printFigures } from "./figures.ts";
import { enginePython } from "./train/compare-sides.ts";

const { values } = parseArgs({ options: { json: { type: "boolean", default: false } } });
const engine = fileURLToPath(new URL("../algorithms/engine-torch/python", import.meta.url));
const output = execFileSync(enginePython(), ["-m", "fake_gpu.figures"], {
  encoding: "utf8",
  env: { ...process.env, PYTHONPATH: [engine, join(engine, "tests")].join(delimiter) },
  stdio: ["ignore", "pipe", "inherit"],
});
const figures = JSON.parse(output.trim().split("\n").at(-1) ?? "") as Record<string, number>;
if (!values.json) console.table(figures);
printFigures("fake-gpu", "none: nothing is computed", figures);
