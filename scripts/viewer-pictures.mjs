// node scripts/viewer-pictures.mjs RUN: renews the pictures of docs/guides/viewer.md from a run with GRPO, with Chromium. Prints the number of clicks.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { mrlm } from "./lib/engine.mjs";
import { projectNode } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";

const PICTURES = fileURLToPath(new URL("../docs/guides/pictures", import.meta.url));
const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

await script(async () => {
  const [run] = process.argv.slice(2);
  if (run === undefined) throw new Error("usage: node scripts/viewer-pictures.mjs RUN");
  mkdirSync(PICTURES, { recursive: true });
  const server = spawn(projectNode, [mrlm, "ui", run, "--port", "0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  const browser = await chromium.launch({
    executablePath: PROGRAM,
    // Chromium has no sandbox of its own for the superuser.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  let clicks = 0;
  try {
    const url = await new Promise((resolve) => {
      createInterface({ input: /** @type {import("node:stream").Readable} */ (server.stdout) }).on("line", (line) =>
        resolve(JSON.parse(line).url),
      );
    });
    const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
    await page.goto(url);
    const picture = (/** @type {string} */ name) => page.screenshot({ path: join(PICTURES, `${name}.png`) });
    const click = async (/** @type {import("playwright-core").Locator} */ place, at = {}) => {
      await place.click(at);
      clicks++;
    };
    if ((await page.locator("[aria-roledescription=chart]").count()) === 0) await click(page.locator("tbody a").first());
    const chart = page.locator("[aria-roledescription=chart]").first();
    await chart.waitFor();
    // The lowest point of the reward in the last half of the run.
    const over = chart.locator(".u-over");
    const { series } = await (
      await fetch(new URL(`${new URL(page.url()).pathname.replace("/runs/", "/api/runs/")}/metrics`, url))
    ).json();
    const { steps, values } = series.find((/** @type {any} */ each) => each.name === "reward/mean");
    const late = values.slice(Math.floor(values.length / 2));
    const step = steps[values.lastIndexOf(Math.min(...late))];
    console.error(`the lowest late reward is that of step ${step}`);
    const box = /** @type {{ width: number, height: number }} */ (await over.boundingBox());
    let x = 0;
    // The legend has the step at the pointer.
    for (; x < box.width; x++) {
      await over.hover({ position: { x, y: box.height / 2 } });
      if ((await chart.locator(".u-legend .u-value").first().textContent()) === String(step)) break;
    }
    await picture("dip-1-curve");
    await click(over, { position: { x, y: box.height / 2 } });
    await page.locator("tbody tr a").first().waitFor();
    await page.locator("p[role=status]").waitFor({ state: "detached" });
    await picture("dip-2-episodes");
    await click(page.locator("tbody tr a").first());
    const tokens = page.locator(".tokens span").first();
    await tokens.waitFor();
    await tokens.scrollIntoViewIfNeeded();
    await picture("dip-3-tokens");
    console.log(`${clicks} clicks from the curve to the tokens`);
  } finally {
    await browser.close();
    server.kill("SIGINT");
  }
});
