// npm run bench -- async [--json] [--only PART,PART] [--steps N] [--rounds N] [--kills N]: play beside learning, in parts that can be measured alone.
import { parseArgs } from "node:util";
import { printFigures, processor } from "../figures.ts";
import { killFigures } from "./kills.ts";
import { selectionFigures, slowEnvironmentFigures } from "./slow-environment.ts";
import { stepTimeFigures } from "./step-time.ts";
import { storeShareFigures } from "./store-share.ts";
import { vllmFigures } from "./vllm-logprobs.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string" },
    steps: { type: "string", default: "30" },
    rounds: { type: "string", default: "3" },
    kills: { type: "string", default: "200" },
  },
});

const parts: Readonly<Record<string, () => Promise<Record<string, number | string>>>> = {
  steps: () => stepTimeFigures(Number(values.rounds), Number(values.steps)),
  slow: slowEnvironmentFigures,
  selection: selectionFigures,
  kills: () => killFigures(Number(values.kills)),
  vllm: vllmFigures,
  store: () => storeShareFigures(Math.min(Number(values.steps), 12)),
};
const chosen = values.only?.split(",") ?? Object.keys(parts);
const unknown = chosen.find((part) => parts[part] === undefined);
if (unknown !== undefined) throw new Error(`--only takes ${Object.keys(parts).join(", ")}, not ${unknown}.`);

const figures: Record<string, number | string> = {};
for (const part of chosen)
  try {
    const measured = (await parts[part]?.()) ?? {};
    console.error(part, measured);
    for (const [name, value] of Object.entries(measured))
      figures[name] = typeof value === "number" ? Number(value.toPrecision(4)) : value;
  } catch (error) {
    // The other parts are measured all the same: some take minutes.
    console.error(error);
    figures[`${part}_failed`] = String(error).slice(0, 200);
    process.exitCode = 1;
  }

if (!values.json) console.table(Object.entries(figures).map(([figure, value]) => ({ figure, value })));
printFigures("async", processor(), figures);
