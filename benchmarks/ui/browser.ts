import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";

const PROGRAMS = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
] as const;
const program = PROGRAMS.find((path) => path !== undefined && existsSync(path));

/** Reason why the tests of the page are skipped. */
export const MISSING_BROWSER =
  program === undefined ? "there is no Chromium: install it, or name it in CHROMIUM" : undefined;

/** Starts Chromium. */
export async function startBrowser(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  return await chromium.launch({
    executablePath: program as string,
    // Chromium has no sandbox of its own for the superuser.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
}
