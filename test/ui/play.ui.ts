/// <reference lib="dom" />
// npm run test:ui: the page where a person plays, in Chromium. Skipped with a reason where there is none.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { PageSeat, serveUi } from "@mrlm/ui";
import type { Browser, Page } from "playwright-core";
import { MISSING_BROWSER, startBrowser } from "../../benchmarks/ui/browser.ts";
import { ROOT } from "../e2e/support/mrlm.ts";
import { HOSTILE_TEXTS } from "./support/hostile-texts.ts";

const suite = MISSING_BROWSER === undefined ? describe : describe.skip;

suite(`the page /play in Chromium${MISSING_BROWSER === undefined ? "" : ` (skipped: ${MISSING_BROWSER})`}`, () => {
  const seat = new PageSeat();
  const { signal } = new AbortController();
  let server: Awaited<ReturnType<typeof serveUi>>;
  let browser: Browser;

  beforeAll(async () => {
    server = await serveUi({ directories: [], address: "127.0.0.1:0", seat });
    browser = await startBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function openPlay(): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.port}/play#${seat.key}`);
    return page;
  }

  test("the keyboard and buttons answer, and a second page shows the same", async () => {
    seat.add({ kind: "message", author: "user", text: "What is 12 * 8?" });
    seat.add({ kind: "tools", tools: ["/calculator {expression}  Evaluates an expression."] });
    const page = await openPlay();
    await page.locator(".message", { hasText: "What is 12 * 8?" }).waitFor();
    const asked = seat.ask("your answer", { signal });
    await page.getByLabel("your answer").pressSequentially("two");
    await page.keyboard.press("Enter");
    await page.getByLabel("your answer").pressSequentially("lines");
    await page.keyboard.press("Control+Enter");
    expect(await asked).toBe("two\nlines");
    await page.locator(".message.response", { hasText: "two" }).waitFor();
    const choices = [
      { key: "1", label: "yours" },
      { key: "", label: "no rating" },
    ];
    const chosen = seat.ask("Which is best?", { choices, signal });
    const second = await openPlay();
    await page.screenshot({ path: join(ROOT, "node_modules/.cache/mrlm/play.png") });
    await second.getByRole("button", { name: "no rating" }).click();
    expect(await chosen).toBe("");
    await page.locator(".message.response", { hasText: "no rating" }).waitFor();
    await page.getByRole("button").waitFor({ state: "detached" });

    for (const text of HOSTILE_TEXTS) seat.add({ kind: "message", author: text.slice(0, 30), text });
    await second.setViewportSize({ width: 360, height: 900 });
    await second.locator(".message").nth(HOSTILE_TEXTS.length).waitFor();
    const state = await second.evaluate(() => ({
      ran: (globalThis as { scriptRan?: unknown }).scriptRan,
      excess: Math.max(0, document.documentElement.scrollWidth - window.innerWidth),
      made: document.querySelectorAll("main script, main iframe, main object, main style, main link").length,
    }));
    expect(state).toEqual({ ran: undefined, excess: 0, made: 0 });
    seat.add({ kind: "end" });
    await page.getByText("All tasks were played.").waitFor();
  }, 60_000);
});
