import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { checksReference } from "../scripts/checks-reference.ts";
import { FINDINGS } from "../src/check/codes.ts";

test("docs/reference/checks.md has a section for each code of a finding and for no other", () => {
  const page = readFileSync(new URL("../../../docs/reference/checks.md", import.meta.url), "utf8");
  const sections = [...page.matchAll(/^## (\S+)$/gm)].map(([, code]) => code);
  expect(sections).toEqual(Object.keys(FINDINGS).sort());
  expect(page).toBe(checksReference());
});
