import { expect, test } from "@jest/globals";
import { BROKEN, findingsOf, statedDefect } from "./support/broken-plugins.ts";

test.each(BROKEN)("the check of %s reports its defect and nothing else", async (name) => {
  const { expects, message: part = "" } = statedDefect(name);
  expect((await findingsOf(name)).map(({ code, message }) => ({ code, message }))).toEqual([
    { code: expects, message: expect.stringContaining(part) },
  ]);
});
