import { expect, test } from "@jest/globals";
import { BROKEN, BROKEN_PROVIDERS, findingsOf, findingsWithProvider, statedDefect } from "./support/broken-plugins.ts";

test.each(BROKEN)("the check of %s reports its defect and nothing else", async (name) => {
  const { expects, message: part = "" } = statedDefect(name);
  expect((await findingsOf(name)).map(({ code, message }) => ({ code, message }))).toEqual([
    { code: expects, message: expect.stringContaining(part) },
  ]);
});

test.each(Object.entries(BROKEN_PROVIDERS))("a required plugin that does `%s` is named", async (code, text) => {
  expect(await findingsWithProvider(code)).toMatchObject([
    { code: "REQUIREMENT_MISSING", subject: "package", message: expect.stringContaining(text) },
  ]);
});
