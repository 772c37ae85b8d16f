// npm run bench -- sandbox [--json] [--submissions N] [--seconds N]: submissions a second, each in a pristine interpreter with five tests, and the usual ways
// of trainers in the same run.
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { javascriptPerSecond } from "./javascript.ts";
import { pythonFigures } from "./python.ts";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, submissions: { type: "string", default: "800" }, seconds: { type: "string", default: "8" } },
});

const javascript = await javascriptPerSecond(Number(values.submissions));
const figures = {
  javascript_per_s: Math.round(javascript.perSecond),
  javascript_p50_ms: Number(javascript.p50.toFixed(2)),
  javascript_p99_ms: Number(javascript.p99.toFixed(2)),
  ...(await pythonFigures(Number(values.seconds))),
};
if (!values.json) console.table(figures);
console.log(JSON.stringify({ bench: "sandbox", machine: { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version }, figures }));
