import { afterAll, expect, test } from "@jest/globals";
import { comparePrograms } from "./support/compare-programs.ts";
import { makeSandbox } from "./support/make-sandbox.ts";

const sandbox = makeSandbox();
afterAll(() => sandbox.close());

test("generated programs have the verdicts that they have under plain Node", async () => {
  expect((await comparePrograms(sandbox, 11, 60)).found).toEqual([]);
});
