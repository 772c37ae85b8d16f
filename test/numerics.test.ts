import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const ROOT = join(import.meta.dirname, "..");
const rows = [
  ...readFileSync(join(ROOT, "docs/numerics.md"), "utf8").matchAll(/^\| (\d+) \| ?(.*?) ?\| (.*) \|$/gm),
].map(([, line, holds, where]) => ({ line: Number(line), holds, where: where as string }));

test("docs/numerics.md has every line, and each states what holds and names a test of it", () => {
  expect(rows.map(({ line }) => line)).toEqual(Array.from({ length: 61 }, (_, i) => i + 1));
  for (const { line, holds, where } of rows)
    expect([line, holds !== "", where.includes("](../")]).toEqual([line, true, true]);
});

test.each(
  rows.flatMap(({ line, where }) =>
    [...where.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file]) => [line, file as string] as const),
  ),
)("line %i is tested in %s", (line, file) => {
  expect(existsSync(join(ROOT, file))).toBe(true);
  const named = [...readFileSync(join(ROOT, file), "utf8").matchAll(/numerics[ _](\d+(?:(?:, |_)\d+)*)/g)].flatMap(
    ([, numbers]) => (numbers as string).split(/, |_/).map(Number),
  );
  expect(named).toContain(line);
});
