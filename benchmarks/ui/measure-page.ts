/// <reference lib="dom" />
/** Times of the page in a browser. */
import type { Browser, Page } from "playwright-core";

/** Filters and orders of the list of episodes, each applied to the view of the one before. */
const VIEWS = [
  "sort=reward",
  "sort=-reward",
  "sort=-tokens",
  "sort=task",
  "role=pro",
  "role=con&sort=reward",
  "run_step=100..110",
  "reward=0.9..",
  "reward=..0.1&role=con",
  "task=train/7",
  "component.correct=0.5..0.6",
  "outcome=scored",
  "player=random",
  "run_step=150&sort=reward",
  "offset=50000",
];

/** Times in milliseconds. */
export interface PageTimes {
  /** From the navigation to the first paint of content on the list of runs. */
  readonly firstPaintMs: number;
  /** From the navigation to the rows of the list of episodes. */
  readonly episodesMs: number;
  /** From a change of the address to the rows of it, for each of the views. */
  readonly filterMs: readonly number[];
}

export async function measurePage(browser: Browser, url: string): Promise<PageTimes> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.locator("tbody a").first().waitFor();
  const firstPaintMs = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
  );
  const run = await page.locator("tbody a").first().getAttribute("href");
  const episodes = `${url.replace(/\/$/, "")}${run}/episodes`;
  await page.goto(episodes);
  await page.locator("tbody tr").first().waitFor();
  const episodesMs = await page.evaluate(() => performance.now());
  const filterMs: number[] = [];
  for (const view of VIEWS) filterMs.push(await timeOf(page, `${run}/episodes?${view}`));
  await page.close();
  return { firstPaintMs, episodesMs, filterMs };
}

/** Shows an address as a filter does, and measures until the answer stands on the page. */
async function timeOf(page: Page, path: string): Promise<number> {
  return await page.evaluate(async (to) => {
    const began = performance.now();
    const answered = new Promise<void>((resolve) => {
      const observer = new PerformanceObserver((list) => {
        if (!list.getEntries().some(({ name }) => name.includes("/episodes?"))) return;
        observer.disconnect();
        resolve();
      });
      observer.observe({ type: "resource" });
    });
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
    await answered;
    // The rows stand in the frame after the answer.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return performance.now() - began;
  }, path);
}
