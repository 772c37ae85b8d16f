import { afterAll, describe, expect, test } from "@jest/globals";
import { convertPage, type PageSource } from "../src/page/convert-page.ts";
import { convertInWorker } from "../src/worker/convert-in-worker.ts";
import { splitParts } from "../src/tools/fetch-tool.ts";
import { WorkerFailure, WorkerPool } from "../src/worker/worker-pool.ts";
import type { DifficultPage } from "./support/difficult-pages.ts";

/** The limits of the options: 2 s of CPU time and 200 MiB. */
const pool = new WorkerPool({ threads: 1, cpuMs: 2000, memoryMib: 200 });
afterAll(async () => await pool.close());

const convert = async (
  { body, contentType = "text/html; charset=utf-8" }: Pick<DifficultPage, "body" | "contentType">,
  isMainContentOnly = false,
) =>
  await convertInWorker(
    pool,
    { bytes: Buffer.from(body as string), contentType, url: "https://example.org/", isMainContentOnly },
    { signal: new AbortController().signal },
  );

describe("U13: style sheets above the limits", () => {
  const page = (css: string): string =>
    `<title>t</title><style>${css}</style><p>${"visible ".repeat(20)}<p class="x">secret`;
  const noise = (count: number): string => Array.from({ length: count }, (_, i) => `.c${i}{color:red}`).join("");

  test.each([
    ["100,000 rules", `${noise(100_000)}.x{display:none}`],
    [
      "25,000 selectors in one rule",
      `${Array.from({ length: 25_000 }, (_, i) => `.c${i}`).join(",")}{color:red}.x{display:none}`,
    ],
    ["100 rules for one name", `${".x.y{color:red}".repeat(100)}.x{display:none}`],
    ["deeply nested conditions", `${"@media all{".repeat(5)}.x{display:none}${"}".repeat(5)}`],
    ["a long comment", `/*${" ".repeat(500_000)}*/.x{display:none}`],
  ])("%s: the page is reported as cut", async (_name, css) => {
    const { isTruncated, notes } = await convert({ body: page(css), contentType: "text/html" });
    expect([isTruncated, notes]).toEqual([true, [expect.stringContaining("style sheets of the page were cut")]]);
  });

  test.each([
    ["3,000 rules", `${noise(3_000)}.x{display:none}`],
    ["a nested condition", "@media screen{@supports (color:red){.x{display:none}}}"],
  ])("%s are read: hidden text is removed, and nothing is reported", async (_name, css) => {
    const { markdown, isTruncated, notes } = await convert({ body: page(css), contentType: "text/html" });
    expect([markdown.includes("secret"), isTruncated, notes]).toEqual([false, false, []]);
  });
});

describe("limits of the worker", () => {
  test("a page that fails is read again as plain text, with a note", async () => {
    const modes: boolean[][] = [];
    const failing = {
      async run(_name: "convert", source: PageSource) {
        modes.push([source.isMainContentOnly, source.isPlain]);
        if (!source.isPlain) throw new WorkerFailure("too much");
        return convertPage(source);
      },
    } as unknown as WorkerPool;
    const body = Buffer.from(
      "<title>t</title><h1>Title &amp; more</h1><p>some <b>bold</b> <a href='/x'>words</a><p>next<script>no</script>",
    );
    const source = { bytes: body, contentType: "text/html", url: "https://example.org/", isMainContentOnly: true };
    expect(await convertInWorker(failing, source, { signal: new AbortController().signal })).toEqual({
      title: "",
      markdown: "t\nTitle & more\nsome bold words\nnext",
      isTruncated: true,
      notes: [expect.stringContaining("too irregular")],
    });
    expect(modes).toEqual([
      [true, false],
      [false, false],
      [true, true],
    ]);
  });
});

describe("main content", () => {
  const article = `<h1>Article</h1>${"<p>A long paragraph with many words, commas, and sentences. It is the content of the page.</p>".repeat(12)}`;

  test("menus are left out", async () => {
    const { markdown, notes } = await convert(
      {
        body: `<nav><ul><li><a href=/a>Menu A</a><li><a href=/b>Menu B</a></ul></nav><article>${article}</article><footer>Imprint</footer>`,
      },
      true,
    );
    expect(markdown).toContain("A long paragraph");
    expect(markdown).not.toContain("Menu A");
    expect(notes).toEqual([]);
  });

  test("a page without main content is returned whole, with a note", async () => {
    const { markdown, notes } = await convert({ body: "<p>short</p>" }, true);
    expect([markdown, notes.length]).toEqual(["short", 1]);
  });
});

describe("splitParts", () => {
  test("parts end at paragraphs, lose no character but white space, and are at most as long as the limit", () => {
    const text = Array.from({ length: 100 }, (_value, index) =>
      `Paragraph ${index} ${"word ".repeat(index % 17)}`.trim(),
    ).join("\n\n");
    const parts = splitParts(text, 400);
    expect(parts.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(400);
    expect(parts.slice(1).every((part) => part.startsWith("Paragraph"))).toBe(true);
  });

  test("a character of two code units is not divided", () => {
    for (const part of splitParts("😀".repeat(1000), 333)) expect(part.isWellFormed()).toBe(true);
  });
});
