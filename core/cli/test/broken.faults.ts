import { expect, test } from "@jest/globals";
import { BROKEN, expectedOf, findingsOf } from "./support/broken-plugins.ts";

test.each(BROKEN)("the check of %s reports its defect and nothing else", async (name) => {
  expect((await findingsOf(name)).map(({ code, message }) => ({ code, message }))).toEqual([
    { code: expectedOf(name), message: expect.any(String) },
  ]);
});
