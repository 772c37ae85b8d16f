import { expect, test } from "@jest/globals";
import { compareAsserts } from "./support/compare-asserts.ts";

test("S8: assertions have Node's verdict on generated pairs and errors, and on those that once had another", async () => {
  expect((await compareAsserts(7, 400, 200)).found).toEqual([]);
});
