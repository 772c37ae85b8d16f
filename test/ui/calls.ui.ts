/// <reference lib="dom" />
// npm run test:ui: the graph of calls of a program in Chromium. Skipped with a reason where there is none.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { serveUi } from "@mrlm/ui";
import axe from "axe-core";
import { MISSING_BROWSER, startBrowser } from "../../benchmarks/ui/browser.ts";
import { ROOT } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { rowsOf } from "./support/run-with-episodes.ts";
import { runWithCalls } from "./support/run-with-calls.ts";

const folder = temporaryDirectory();
const PICTURES = join(ROOT, "node_modules/.cache/mrlm/ui");
const name = `the graph of calls${MISSING_BROWSER === undefined ? "" : ` (skipped: ${MISSING_BROWSER})`}`;

(MISSING_BROWSER === undefined ? test : test.skip)(
  `${name} fits into both widths and themes, has no serious fault, and leads to turns by the keyboard`,
  async () => {
    mkdirSync(PICTURES, { recursive: true });
    const directory = await runWithCalls(folder, "calls");
    const sql = "SELECT episode_key FROM v_episodes WHERE purpose = 'train' LIMIT 1";
    const key = String(rowsOf(directory, sql)[0]?.[0]);
    const server = await serveUi({ directories: [folder], address: "127.0.0.1:0" });
    const browser = await startBrowser();
    const address = `http://127.0.0.1:${server.port}`;
    const { runs } = (await (await fetch(`${address}/api/runs`)).json()) as { runs: [{ id: string }] };
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [360, 1_600]) {
        const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
        const faults: string[] = [];
        page.on("pageerror", (error) => faults.push(error.message));
        await page.goto(`${address}/runs/${encodeURIComponent(runs[0].id)}/episodes/${key}`);
        const calls = page.locator(".calls li");
        await calls.first().waitFor();
        expect(await calls.count()).toBe(10);
        expect(await calls.nth(8).textContent()).toMatch(/○.*rewrites the past of turn 5.*8 not learnt: superseded/s);
        expect(await calls.nth(1).textContent()).toMatch(/↻.*planner policy policy retry: the same answer of turn 0/s);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
        await page.locator(".calls").screenshot({ path: join(PICTURES, `calls-${width}-${colorScheme}.png`) });
        await page.evaluate(axe.source);
        const violations = await page.evaluate(async () => {
          const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
          return (await inPage.run()).violations.map(({ id, impact }) => `${impact} ${id}`);
        });
        expect(violations.filter((each) => /^(serious|critical)/.test(each))).toEqual([]);
        await calls.nth(5).locator("a").focus();
        await page.keyboard.press("Enter");
        expect(await page.evaluate(() => document.activeElement?.id)).toBe("turn-4");
        expect(faults).toEqual([]);
        await page.close();
      }
    await browser.close();
    await server.close();
  },
  300_000,
);
