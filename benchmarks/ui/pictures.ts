/**
 * node --conditions=mrlm-source benchmarks/ui/pictures.ts RUN [--workers | --watch]: renews the pictures of docs/train/viewer.md from a run with GRPO, that of its
 * workers from an asynchronous run that trains beside `mrlm play`, or that of docs/train/rewards.md from a run with a watch. Prints the number of clicks.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { startBrowser } from "./browser.ts";
import { startUi } from "./start-ui.ts";

const PICTURES = fileURLToPath(new URL("../../docs/train/pictures", import.meta.url));

const [run, option] = process.argv.slice(2);
if (run === undefined)
  throw new Error("usage: node --conditions=mrlm-source benchmarks/ui/pictures.ts RUN [--workers | --watch]");
mkdirSync(PICTURES, { recursive: true });
const ui = await startUi(run);
const browser = await startBrowser();
let clicks = 0;
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
  await page.goto(ui.url);
  await click(page.locator("tbody a").first());
  if (option === "--workers") await showWorkers(page);
  else if (option === "--watch") await showWatch(page);
  else await followDip(page);
} finally {
  await browser.close();
  await ui.stop();
}

async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

async function click(place: Locator, options: Parameters<Locator["click"]>[0] = {}): Promise<void> {
  await place.click(options);
  clicks++;
}

async function showWorkers(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Workers" }).click();
  await page.locator("[aria-roledescription=chart] canvas").waitFor();
  await page.setViewportSize({ width: 1200, height: 1200 });
  await picture(page, "workers");
}

/** Shows the charts of the reward and of the answers, with the findings below them. */
async function showWatch(page: Page): Promise<void> {
  const charts = page.locator(".charts > div");
  await charts.first().locator(".finding").waitFor();
  await charts.first().locator("canvas").waitFor();
  await page.setViewportSize({ width: 1200, height: 1200 });
  const { x, y, width } = (await page.locator(".charts").boundingBox()) as { x: number; y: number; width: number };
  await page.screenshot({ path: join(PICTURES, "watch.png"), clip: { x, y, width, height: 430 } });
}

/** Goes from the page of a run to the tokens of a dip. */
async function followDip(page: Page): Promise<void> {
  const chart = page.locator("[aria-roledescription=chart]").first();
  const over = chart.locator(".u-over");
  await over.waitFor();
  const step = await stepOfDip(new URL(page.url()));
  const { width, height } = (await over.boundingBox()) as { readonly width: number; readonly height: number };
  const position = { x: 0, y: height / 2 };
  // The legend has the step at the pointer.
  for (; position.x < width; position.x++) {
    await over.hover({ position });
    if ((await chart.locator(".u-legend .u-value").first().textContent()) === String(step)) break;
  }
  await picture(page, "dip-1-curve");
  await click(over, { position });
  await page.locator("tbody tr a").first().waitFor();
  await page.locator("p[role=status]").waitFor({ state: "detached" });
  await picture(page, "dip-2-episodes");
  await click(page.locator("tbody tr a").first());
  const tokens = page.locator(".tokens span").first();
  await tokens.waitFor();
  await tokens.scrollIntoViewIfNeeded();
  await picture(page, "dip-3-tokens");
  console.log(`${clicks} clicks from the list of runs to the tokens of a dip`);
}

/** Returns the step with the lowest reward of the second half of a run. */
async function stepOfDip(page: URL): Promise<number> {
  const answer = await fetch(new URL(`${page.pathname.replace("/runs/", "/api/runs/")}/metrics`, page));
  const { series } = (await answer.json()) as {
    readonly series: readonly { readonly name: string; readonly steps: number[]; readonly values: number[] }[];
  };
  const rewards = series.find(({ name }) => name === "reward/mean");
  if (rewards === undefined) throw new Error("the run has no rewards");
  const late = rewards.values.slice(Math.floor(rewards.values.length / 2));
  return rewards.steps[rewards.values.lastIndexOf(Math.min(...late))] as number;
}
