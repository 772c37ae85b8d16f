// Opens each page of the built site in Chromium at two widths: it has a heading, nothing is wider than the window, no script fails, and the search finds a word.
// CHROMIUM names the program; without one the check is skipped with a reason.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const SITE = fileURLToPath(new URL("dist/", import.meta.url));
const WIDTHS = [360, 1600];
const SEARCHED = "unscored";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

const program = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => path !== undefined && existsSync(path),
);
if (program === undefined) {
  console.log("skipped: there is no Chromium. Install it, or name it in CHROMIUM.");
  process.exit(0);
}

const server = createServer(({ url = "/" }, response) => {
  const path = join(SITE, decodeURIComponent(new URL(url, "http://localhost").pathname));
  const file = existsSync(join(path, "index.html")) ? join(path, "index.html") : path;
  if (!path.startsWith(SITE) || extname(file) === "" || !existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
  return response.end(readFileSync(file));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const address = `http://127.0.0.1:${server.address().port}`;

const pages = readdirSync(SITE, { recursive: true })
  .filter((path) => path.endsWith("index.html"))
  .map((path) => `/${path.slice(0, -"index.html".length)}`)
  .toSorted();
const faults = [];
const browser = await chromium.launch({
  executablePath: program,
  // Chromium has no sandbox of its own for the superuser.
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
try {
  for (const width of WIDTHS) {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    let current = "";
    page.on("pageerror", (error) => faults.push(`${current} at ${width}: ${error.message}`));
    for (current of pages) {
      await page.goto(address + current);
      const { heading, excess } = await page.evaluate(() => ({
        heading: document.querySelector("h1")?.textContent?.trim() ?? "",
        excess: document.documentElement.scrollWidth - innerWidth,
      }));
      if (heading === "") faults.push(`${current} at ${width}: it has no heading`);
      if (excess > 0) faults.push(`${current} at ${width}: it is ${excess} pixels wider than the window`);
    }
    await page.goto(address + pages[0]);
    await page.locator("button[data-open-modal]").click();
    await page.locator("input.pagefind-ui__search-input").fill(SEARCHED);
    const found = page.locator(".pagefind-ui__result-link").first();
    await found.waitFor({ timeout: 10_000 }).catch(() => faults.push(`search at ${width}: no page has "${SEARCHED}"`));
    await page.close();
  }
} finally {
  await browser.close();
  server.close();
}
for (const fault of faults) console.error(fault);
console.log(`${pages.length} pages at ${WIDTHS.join(" and ")} pixels: ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
