import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith("site"))
    .map((name) => `docs/${name}`),
];

const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

test("README.md, the changelog and the documentation keep their sizes", () => {
  expect(wordsOf(read("README.md"))).toBeLessThanOrEqual(1_000);
  expect(read("CHANGELOG.md").trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  const docs = pages.filter((page) => page.startsWith("docs/"));
  // Guides are shortened before this number rises.
  expect(docs.reduce((sum, page) => sum + wordsOf(read(page)), 0)).toBeLessThanOrEqual(83_110);
});

describe("guides", () => {
  const groups = ["start", "train", "build", "operate"];
  const guides = pages.filter((page) => groups.includes(page.split("/")[1] as string));

  test("docs/README.md lists each one once, by groups", () => {
    const listed = Array.from(
      read("docs/README.md").matchAll(/^\d+\. \[.*?\]\((.*?)\)/gm),
      ([, page]) => `docs/${page}`,
    );
    expect(listed.toSorted()).toEqual(guides.toSorted());
    expect([...new Set(listed.map((page) => page.split("/")[1]))]).toEqual(groups);
  });

  test.each(guides)("%s begins with at most 600 words, and its reference stands apart", (page) => {
    const [start = "", ...reference] = read(page).split("\n## Reference\n");
    expect(wordsOf(start)).toBeLessThanOrEqual(600);
    expect(reference.length).toBeLessThanOrEqual(1);
  });
});

test.each(pages)("%s has lines of at most 240 characters outside of tables and code", (page) => {
  const text = read(page)
    .replaceAll(/^( *)```[^]*?^\1```$/gm, "")
    .replaceAll(/<!--[^]*?-->/g, "");
  expect(text.split("\n").filter((line) => line.length > 240 && !/^ *\|/.test(line))).toEqual([]);
});

describe("docs/architecture.md", () => {
  const paths = [...read("docs/architecture.md").matchAll(/`([\w@.-]+\/[\w@./-]+)`/g)].map(
    ([, path]) => path as string,
  );

  test("names files and folders that exist", () => {
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

test("docs/decisions/README.md lists every decision with its title and status", () => {
  const listed = [
    ...read("docs/decisions/README.md").matchAll(/^- \[(\d+)\]\((.*?)\) (.*?)(?: \((superseded by \d+)\))?$/gm),
  ].map(([, number, name, title, status = "accepted"]) => [number, name, title, status]);
  const decisions = readdirSync(join(root, "docs/decisions"))
    .filter((name) => /^\d/.test(name))
    .toSorted();
  const found = decisions.map((name) => {
    const text = read(`docs/decisions/${name}`);
    const [, number, title] = /^# (\d+): (.*)$/m.exec(text) ?? [];
    return [number, name, title, /^Status: (.*)$/m.exec(text)?.[1]];
  });
  expect(listed).toEqual(found);
  expect(found.map(([number]) => Number(number))).toEqual(found.map((_, index) => index + 1));
});

test("a citation of a decision has the number of its subject", () => {
  const files = execFileSync("git", ["ls-files", "*.md", "*.ts", "*.mjs", "*.py"], { cwd: root, encoding: "utf8" });
  const citations = files
    .trim()
    .split("\n")
    .filter((path) => path !== "CHANGELOG.md" && existsSync(join(root, path)))
    .flatMap((path) => [...read(path).matchAll(/\bADR (\d{4})(?: \(|, )?([\w ]*)/g)].map((match) => [path, ...match]));
  const wrong = citations.filter(
    ([, , number, subject]) => !existsSync(join(root, `docs/decisions/${number}-${toFileName(subject as string)}.md`)),
  );
  expect(citations.length).toBeGreaterThan(10);
  expect(wrong).toEqual([]);
});

function toFileName(subject: string): string {
  return subject.toLowerCase().replaceAll(" ", "-");
}

test.each(pages)("%s links to files and sections that exist", (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  const broken = links.filter(([, target, section]) => {
    const path = target === "" ? page : join(dirname(page), decodeURI(target as string));
    if (!existsSync(join(root, path))) return true;
    return section !== undefined && path.endsWith(".md") && !sectionsOf(path).includes(section);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

/** Anchors of the headings of a page, by GitHub's rule. */
function sectionsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-"),
  );
}
