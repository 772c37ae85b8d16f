/// <reference lib="dom" />
// npm run test:ui: the page of mrlm ui in Chromium. Skipped with a reason where there is none.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import type { Trajectory } from "@mrlm/spec";
import { serveUi, shown, visible } from "@mrlm/ui";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { ROOT } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { MISSING_BROWSER, startBrowser } from "../../benchmarks/ui/browser.ts";
import { hostileGroup, hostileMember } from "./support/hostile-episodes.ts";
import { HOSTILE_TEXTS } from "./support/hostile-texts.ts";
import { addGroups, rowsOf, smallRun } from "./support/run-with-episodes.ts";
import { addMembers, aheadRun, editStore } from "./support/run-with-workers.ts";

const WIDTHS = [360, 1600];
const THEMES = ["light", "dark"] as const;
/** Pictures of each page, to look at. */
const PICTURES = join(ROOT, "node_modules/.cache/mrlm/ui");

const suite = MISSING_BROWSER === undefined ? describe : describe.skip;

suite(`the page of mrlm ui in Chromium${MISSING_BROWSER === undefined ? "" : ` (skipped: ${MISSING_BROWSER})`}`, () => {
  const folder = temporaryDirectory();
  const faults: string[] = [];
  let server: Awaited<ReturnType<typeof serveUi>>;
  let browser: Browser;
  let page: Page;
  let runs: { readonly id: string; readonly directory: string }[];
  let paths: Readonly<Record<string, string>>;

  /** Page of an episode of a hostile group. */
  const hostilePath = (index: number): string => {
    const sql = "SELECT episode_key FROM v_episodes WHERE episode = ?";
    return `${runPath(0)}/episodes/${String(rowsOf(runs[0]?.directory ?? "", sql, `hostile/${index}`)[0]?.[0])}`;
  };
  const runPath = (index: number): string => `/runs/${encodeURIComponent(runs[index]?.id ?? "")}`;

  beforeAll(async () => {
    mkdirSync(PICTURES, { recursive: true });
    const directories = [await smallRun(folder, "one", 3), await smallRun(folder, "two", 4)];
    await addGroups(directories[0] as string, "evaluation/<script>globalThis.scriptRan=1</script>", [
      ...HOSTILE_TEXTS.map(hostileGroup),
    ]);
    await addMembers(directories[0] as string, HOSTILE_TEXTS.map(hostileMember));
    await addMembers(directories[1] as string, [
      { id: "trainer", kind: "training", capabilities: { host: "machine", pid: 7, mode: "async" } },
      { id: "machine-8-a", kind: "rollouts", capabilities: { host: "machine", pid: 8, concurrency: 16 } },
      { id: "environments@10.0.0.2:50051", kind: "environments", address: "10.0.0.2:50051", capabilities: {} },
    ]);
    editStore(
      directories[1] as string,
      "UPDATE members SET heartbeat_at = heartbeat_at - 31000 WHERE id LIKE 'machine%'",
    );
    server = await serveUi({ directories: [folder], address: "127.0.0.1:0" });
    browser = await startBrowser();
    page = await openPage({});
    const found = (await (await fetch(`${address()}/api/runs`)).json()) as { runs: { id: string }[] };
    runs = directories.map((directory) => ({
      directory,
      id: found.runs.find(({ id }) => directory.endsWith(id))?.id ?? "",
    }));
    const [[episode]] = rowsOf(
      runs[1]?.directory ?? "",
      "SELECT episode_key FROM v_episodes WHERE purpose = 'train' LIMIT 1",
    ) as [[number]];
    paths = {
      runs: "/",
      run: runPath(1),
      all: `${runPath(1)}?view=all`,
      findings: `${runPath(1)}?view=findings`,
      config: `${runPath(1)}?view=config`,
      compare: `/compare?run=${runs[0]?.id}&run=${runs[1]?.id}`,
      episodes: `${runPath(1)}/episodes`,
      episode: `${runPath(1)}/episodes/${episode}`,
      workers: `${runPath(1)}/workers`,
      servers: "/servers",
    };
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const address = (): string => `http://127.0.0.1:${server.port}`;

  async function openPage(options: { readonly width?: number; readonly theme?: "light" | "dark" }): Promise<Page> {
    const { width = 1600, theme = "light" } = options;
    const opened = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme });
    opened.on("pageerror", (error) => faults.push(error.message));
    opened.on("console", (message) => {
      if (message.type() === "error") faults.push(message.text());
    });
    opened.on("dialog", (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    opened.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(address()) && !url.startsWith("data:") && !url.startsWith("blob:"))
        faults.push(`request: ${url.slice(0, 200)}`);
    });
    return opened;
  }

  /** Opens a path and waits until its content stands. */
  async function show(path: string, on: Page = page): Promise<void> {
    await on.goto(address() + path);
    await on.locator("main h1").first().waitFor();
    await on.locator("p[role=status]").waitFor({ state: "detached" });
  }

  const excess = (on: Page): Promise<number> =>
    on.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

  /** Describes the elements that reach beyond the window. */
  const widest = (on: Page): Promise<string> =>
    on.evaluate(() =>
      [...document.querySelectorAll("body *")]
        .filter((each) => each.getBoundingClientRect().right > window.innerWidth && each.closest(".scroll") === null)
        .map((each) => `${each.tagName}.${each.className} ${each.getBoundingClientRect().right}`)
        .slice(-3)
        .join(", "),
    );

  test("each page fits into both widths in both themes, and axe finds no serious fault", async () => {
    const found: string[] = [];
    for (const theme of THEMES)
      for (const width of WIDTHS) {
        const opened = await openPage({ width, theme });
        for (const [name, path] of Object.entries(paths)) {
          await show(path, opened);
          await opened.screenshot({ path: join(PICTURES, `${name}-${width}-${theme}.png`), fullPage: width < 1000 });
          if ((await excess(opened)) > 0)
            found.push(`${name} at ${width}: ${await excess(opened)} pixels too wide: ${await widest(opened)}`);
          await opened.evaluate(axe.source);
          const violations = await opened.evaluate(async () => {
            const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
            return (await inPage.run()).violations.map(({ id, impact, nodes }) => ({
              id,
              impact,
              places: nodes.map(({ target, failureSummary }) => `${target.join(" ")} ${failureSummary}`).slice(0, 2),
            }));
          });
          for (const { id, impact, places } of violations)
            if (impact === "serious" || impact === "critical")
              found.push(`${name} at ${width}, ${theme}: ${id}: ${places.join("; ")}`);
        }
        await opened.close();
      }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
  }, 300_000);

  test(`${HOSTILE_TEXTS.length} hostile texts in every place are text: no script runs, nothing leaves its box, nothing is requested`, async () => {
    const found: string[] = [];
    const opened = await openPage({ width: 800 });
    const places = [
      runPath(0),
      `${runPath(0)}/episodes?purpose=eval`,
      `${runPath(0)}/workers`,
      ...HOSTILE_TEXTS.map((_, i) => hostilePath(i)),
    ];
    for (const path of places) {
      await show(path, opened);
      const state = await opened.evaluate(() => ({
        ran: (globalThis as { scriptRan?: unknown }).scriptRan,
        excess: document.documentElement.scrollWidth - window.innerWidth,
        made: document.querySelectorAll(
          "main script, main iframe, main object, main form[action], main style, main link",
        ).length,
        links: [...document.querySelectorAll("a")].map(({ href }) => href).filter((href) => !/^https?:/.test(href)),
        hidden: /[\u0000-\u0008\u200b-\u200f\u202a-\u202e\u2066-\u2069\u001b]/.test(document.body.textContent ?? ""),
      }));
      if (state.ran !== undefined || state.excess > 0 || state.made > 0 || state.links.length > 0 || state.hidden)
        found.push(`${path}: ${JSON.stringify(state)}`);
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
    // The text itself can be read.
    for (const i of [0, 8, 29]) {
      await show(hostilePath(i), opened);
      expect(await opened.locator(".message pre.text").first().textContent()).toBe(visible(HOSTILE_TEXTS[i] as string));
    }
    await opened.close();
  }, 300_000);

  test("an answer with a line of 10 MB is shown in its box", async () => {
    const line = `begin${"x".repeat(10_000_000)}`;
    const group = hostileGroup("short", HOSTILE_TEXTS.length);
    const [trajectory] = group.trajectories as [Trajectory];
    const response = { role: "assistant", parts: [{ type: "text", text: line }] } as const;
    const turns = trajectory.turns.map((turn) => ({ ...turn, messages: [], response }));
    await addGroups(runs[0]?.directory ?? "", "evaluation/line", [
      { ...group, trajectories: [{ ...trajectory, turns }] },
    ]);
    const opened = await openPage({ width: 800 });
    await show(hostilePath(HOSTILE_TEXTS.length), opened);
    const text = opened.locator(".message pre.text").first();
    expect((await text.textContent())?.slice(0, 8)).toBe("beginxxx");
    expect(await excess(opened)).toBeLessThanOrEqual(0);
    await opened.close();
    expect(faults).toEqual([]);
  }, 60_000);

  test("60 numbers at random places are those of SQL", async () => {
    const random = randomStream("numbers", 1);
    const { directory } = runs[1] as { directory: string };
    const compared: [string, string, string][] = [];
    const columns = ["reward", "advantage", "tokens", "turns", "run_step"];
    for (const sort of ["-reward", "reward", "-run_step", "tokens"]) {
      await show(`${runPath(1)}/episodes?purpose=train&sort=${sort}`);
      const heads = (await page.locator("thead th").allTextContents()).map((text) => text.trim().replace(/ [▲▼]$/, ""));
      const links = page.locator("tbody tr td a");
      const count = await links.count();
      for (let i = 0; i < 15; i++) {
        const row = random.integer(0, count - 1);
        const column = random.pick(columns);
        const href = (await links.nth(row).getAttribute("href")) ?? "";
        const episode = decodeURIComponent(href.split("/").at(-1) ?? "");
        const cell = page.locator("tbody tr").nth(row).locator("td").nth(heads.indexOf(column));
        const [[value]] = rowsOf(
          directory,
          column === "advantage"
            ? "SELECT advantage FROM v_credits WHERE episode_key = ?"
            : `SELECT ${column} FROM v_episodes WHERE episode_key = ?`,
          episode,
        ) as [[number | null]];
        compared.push([`${sort} ${column} ${episode}`, (await cell.textContent()) ?? "", shown(value)]);
      }
    }
    await show(`${runPath(1)}/episodes?purpose=train`);
    const [[total, scored, mean]] = rowsOf(
      directory,
      "SELECT COUNT(*), COUNT(reward), AVG(reward) FROM v_episodes WHERE purpose = 'train'",
    ) as [[number, number, number]];
    const sentence = ((await page.locator(".measures p").textContent()) ?? "").replaceAll(/\s+/g, " ").trim();
    compared.push([
      "totals",
      sentence,
      `${shown(total)} parts of episodes, ${shown(scored)} with a reward, mean reward ${shown(mean)}`,
    ]);
    await show(runPath(1));
    for (const label of await page
      .locator("[aria-roledescription=chart]")
      .evaluateAll((all) => all.map((each) => each.getAttribute("aria-label") ?? ""))) {
      const [first] = label.replace(/^[^:]*: /, "").split(". Arrow", 1) as [string];
      for (const part of first.split(", ")) {
        const [name = "", value = ""] = part.split(" ");
        const [[stored] = [undefined]] = rowsOf(
          directory,
          "SELECT value FROM v_metrics WHERE name = ? OR section || '/' || name = ? ORDER BY step DESC LIMIT 1",
          name,
          name,
        ) as [[number]?];
        compared.push([name, value, shown(stored)]);
      }
    }
    expect(compared.length).toBeGreaterThanOrEqual(60);
    expect(compared.filter(([, onPage, expected]) => onPage !== expected)).toEqual([]);
  }, 120_000);

  test("the keyboard alone leads from the list of runs to the tokens of an episode", async () => {
    await show("/");
    await page.locator(`tbody a[href="${runPath(1)}"]`).focus();
    await page.keyboard.press("Enter");
    await page.locator("[aria-roledescription=chart]").first().focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.waitForURL(/run_step=2/);
    await page.locator("tbody a").first().focus();
    await page.keyboard.press("Enter");
    await page.locator(".tokens span").first().waitFor();
    await page.locator("input[name=colour]").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/colour=advantage/);
    expect(await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)).not.toBe(
      "none",
    );
    expect(faults).toEqual([]);
  }, 60_000);

  test("the page of workers names members, leases, ages and waits, and follows the run", async () => {
    const directory = await aheadRun(folder, "ahead");
    const opened = await openPage({});
    await show("/", opened);
    const link = opened.locator("tbody tr", { hasText: "ahead" }).locator("a").first();
    await link.waitFor({ timeout: 20_000 });
    await link.click();
    await opened.getByRole("link", { name: "Workers" }).click();
    await opened.getByText("No process takes part in the run.").waitFor();
    // A canvas shows the waits; its last values are text.
    const chart = opened.locator("[aria-roledescription=chart]");
    const [[last]] = rowsOf(
      directory,
      "SELECT value FROM v_metrics WHERE name = 'wait/training' ORDER BY step DESC",
    ) as [[number]];
    expect(await chart.getAttribute("aria-label")).toContain(`wait/training ${shown(last)}`);
    const ages = opened.getByRole("region", { name: /by the age of their oldest token/ });
    const rows = rowsOf(directory, "SELECT max_age, SUM(parts) FROM v_staleness GROUP BY 1 ORDER BY 1") as number[][];
    const cells = await ages
      .locator("tbody tr")
      .evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll("td.number")].map((cell) => cell.textContent ?? "")),
      );
    expect(cells).toEqual(rows.map((row) => row.map((value) => shown(value))));
    await addMembers(directory, [{ id: "late", kind: "rollouts", capabilities: { concurrency: 4 } }]);
    const member = opened.getByRole("region", { name: "Processes that take part" }).locator("tbody tr");
    await member.waitFor({ timeout: 20_000 });
    expect(await member.locator("td").allTextContents()).toEqual([
      ...["late", "rollouts", "alive", "–", "concurrency: 4"],
      ...[expect.stringMatching(/^\d+ s ago$/), "1", expect.any(String)],
    ]);
    expect(await opened.getByRole("region", { name: "Cohorts of groups" }).textContent()).toContain("later 0");
    // A member without a heartbeat is lost.
    editStore(directory, "UPDATE members SET heartbeat_at = heartbeat_at - 31000");
    await opened.locator(".state.lost").waitFor({ timeout: 20_000 });
    // The keyboard alone leads to each table.
    const reached = new Set<string>();
    for (let i = 0; i < 30; i++) {
      await opened.keyboard.press("Tab");
      const name = await opened.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
      if (name !== "") reached.add(name);
    }
    expect([...reached].join()).toMatch(
      /Processes that take part.*Groups that no batch.*oldest token.*Cohorts of groups/,
    );
    await opened.close();
    expect(faults).toEqual([]);
  }, 90_000);

  test("filters, order and colours stand in the address, and an address shows them again", async () => {
    await show(`${runPath(1)}/episodes`);
    await page.locator("label", { hasText: "reward" }).locator("input").fill("0..0.5");
    await page.keyboard.press("Enter");
    await page.waitForURL(/reward=0\.\.0\.5/);
    await page.getByRole("link", { name: /^tokens/ }).click();
    await page.waitForURL(/sort=tokens/);
    const other = await openPage({});
    await show(page.url().slice(address().length), other);
    const rows = await other.locator("tbody").textContent();
    // The rows of the last address stay until those of this one have come.
    await page.waitForFunction((text) => document.querySelector("tbody")?.textContent === text, rows);
    await other.close();
    const bars = page.locator(".histogram button");
    await bars.first().click();
    await page.waitForURL(/reward=/);
    await page.getByRole("button", { name: "Groups without signal" }).click();
    await page.waitForURL(/signal=none/);
    await page.goBack();
    expect(faults).toEqual([]);
  }, 60_000);

  test("charts are saved as SVG and PNG, tables as CSV and Parquet", async () => {
    await show(runPath(1));
    for (const [name, begin] of [
      ["SVG", "<svg"],
      ["PNG", "\u0089PNG"],
      ["CSV", "name,"],
      ["Parquet", "PAR1"],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        name.length === 3 && name !== "CSV"
          ? page
              .getByRole("button", { name: new RegExp(`as ${name}$`) })
              .first()
              .click()
          : page.getByRole("link", { name, exact: true }).click(),
      ]);
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
      expect([name, Buffer.concat(chunks).toString("latin1").slice(0, begin.length)]).toEqual([name, begin]);
    }
  }, 60_000);

  test("a run under way is shown as it continues", async () => {
    const opened = await openPage({});
    await show("/", opened);
    const training = smallRun(folder, "three", 30);
    const row = opened.locator("tbody tr", { hasText: "three" });
    await row.waitFor({ timeout: 20_000 });
    // Its charts stay, so that a range that a person chose stays too.
    const charts = await openPage({});
    await charts.goto(address() + ((await row.locator("a").first().getAttribute("href")) ?? ""));
    const canvas = await charts.locator("canvas").first().elementHandle();
    await row.getByText("finished").waitFor({ timeout: 30_000 });
    await training;
    expect(await row.textContent()).toContain("32 of 32");
    await charts.getByText("finished").first().waitFor();
    expect(await canvas?.evaluate((element) => element.isConnected)).toBe(true);
    await charts.close();
    await opened.close();
    expect(faults).toEqual([]);
  }, 90_000);
});
