import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { pluginContract } from "@mrlm/testing";
import plugin from "../best-of-n.ts";

pluginContract({ plugins: [plugin] });

test("is under 120 lines", () => {
  expect(readFileSync(new URL("../best-of-n.ts", import.meta.url), "utf8").split("\n").length).toBeLessThan(120);
});
