// npm run bench -- sandbox [--json] [--submissions N]: submissions a second, each in a pristine interpreter with five tests.
import { parseArgs } from "node:util";
import { javascriptPerSecond } from "./javascript.ts";

const { values } = parseArgs({ options: { json: { type: "boolean", default: false }, submissions: { type: "string", default: "800" } } });

const javascript = await javascriptPerSecond(Number(values.submissions));
const figures = {
  javascript_per_s: Math.round(javascript.perSecond),
  javascript_p50_ms: Number(javascript.p50.toFixed(2)),
  javascript_p99_ms: Number(javascript.p99.toFixed(2)),
};
if (values.json) console.log(JSON.stringify(figures));
else console.table(figures);
