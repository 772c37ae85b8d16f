/**
 * npm run bench -- ui [--json] [--steps N]: the page of `mrlm ui` in Chromium over a run with 100,000 episodes, its cost beside a run under way, and the counts of
 * `npm run test:ui`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { grpo } from "@mrlm/grpo";
import type { JsonObject } from "@mrlm/spec";
import { trainBigram } from "@mrlm/testing";
import { printFigures, processor } from "../figures.ts";
import { MISSING_BROWSER, startBrowser } from "./browser.ts";
import { testStatuses } from "../jest-report.ts";
import { fillStore } from "../store/queries.ts";
import { trainingRun } from "../store/training-run.ts";
import { median } from "../train/measurement.ts";
import { measurePage } from "./measure-page.ts";
import { startUi } from "./start-ui.ts";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, steps: { type: "string", default: "40" } },
});
const ANSWER_TOKENS = 64;
const root = fileURLToPath(new URL("../..", import.meta.url));

if (MISSING_BROWSER !== undefined) throw new Error(MISSING_BROWSER);
const figures: Record<string, number> = {};
const put = (name: string, value: number): void => void (figures[name] = Number(value.toPrecision(4)));
const folder = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
const browser = await startBrowser();
try {
  const pageFolder = join(root, "core/ui/dist/page");
  const sizes = ["page.js", "page.css"].map((name) => readFileSync(join(pageFolder, name)));
  put("bundle_kb", sizes.reduce((sum, { length }) => sum + length, 0) / 1000);
  put("bundle_gzip_kb", sizes.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0) / 1000);

  console.error("writing 100,000 episodes");
  const stages = [{ algorithm: "grpo", steps: 20, prompts_per_step: 4, group_size: 4, learning_rate: 0.5 }];
  const { directory } = (await trainBigram({ algorithms: [grpo], stages, config: { name: "many", output: folder } }))
    .summary;
  const { id } = JSON.parse(readFileSync(join(directory, "run.json"), "utf8")) as JsonObject;
  for (const end of ["", "-wal", "-shm"]) rmSync(join(directory, `episodes.sqlite${end}`), { force: true });
  await fillStore(join(directory, "episodes.sqlite"), String(id));
  const ui = await startUi(folder);
  const page = await measurePage(browser, ui.url);
  await ui.stop();
  put("first_paint_ms", page.firstPaintMs);
  put("episodes_paint_ms", page.episodesMs);
  put("filter_p50_ms", median(page.filterMs));
  put("filter_max_ms", Math.max(...page.filterMs));

  console.error("a run under way");
  const live = join(folder, "live");
  mkdirSync(live);
  // The process that reads runs starts with the first of them.
  await trainBigram({
    algorithms: [grpo],
    stages: [{ ...stages[0], steps: 1 }],
    config: { name: "first", output: live },
  });
  const watching = await startUi(live);
  const opened = await browser.newPage();
  await opened.goto(watching.url);
  await opened.getByText("first").first().waitFor();
  const before = watching.cpuSeconds();
  const steps = Number(values.steps);
  const run = await trainingRun(ANSWER_TOKENS, steps, live);
  put("live_cpu_share", (watching.cpuSeconds() - before) / (run.cpuSeconds * steps));
  await watching.stop();
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
spawnSync("npm", ["run", "test:ui"], { cwd: root, stdio: ["ignore", 2, 2] });
for (const [title, status] of testStatuses()) {
  const [, count, what] = /^(\d+) (numbers|hostile texts)/.exec(title) ?? [];
  if (what === undefined) continue;
  const isNumbers = what === "numbers";
  put(isNumbers ? "numbers_checked" : "hostile_texts", Number(count));
  put(isNumbers ? "numbers_wrong" : "hostile_through", status === "passed" ? 0 : Number.NaN);
}
if (!values.json) console.table(Object.entries(figures).map(([figure, value]) => ({ figure, value })));
printFigures("ui", processor(), figures);
