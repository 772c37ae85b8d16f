// npm run bench -- sandbox [--json] [--submissions N] [--seconds N] [--only javascript|python]: submissions a second, each in a pristine interpreter with
// five tests, and the usual ways of trainers in the same run.
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { javascriptFigures } from "./javascript.ts";
import { pythonFigures } from "./python.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    submissions: { type: "string", default: "800" },
    seconds: { type: "string", default: "8" },
    only: { type: "string" },
  },
});
if (values.only !== undefined && !["javascript", "python"].includes(values.only))
  throw new Error(`--only takes javascript or python, not ${values.only}.`);

const figures = {
  ...(values.only === "python" ? {} : await javascriptFigures(Number(values.submissions))),
  ...(values.only === "javascript" ? {} : await pythonFigures(Number(values.seconds))),
};
if (!values.json) console.table(figures);
console.log(
  JSON.stringify({
    bench: "sandbox",
    machine: { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version },
    figures,
  }),
);
