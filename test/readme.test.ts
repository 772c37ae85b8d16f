import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import * as kit from "@mrlm/kit";
import type { Plugin } from "@mrlm/spec";
import { bareEnvironment } from "@mrlm/testing";
import { ROOT } from "./code-blocks/blocks.ts";

const [, code = ""] = /```ts\n(.*?)```/s.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];

/** Evaluates the module of README.md, whose only import is @mrlm/kit. */
function pluginOf(module: string): Plugin {
  const body = stripTypeScriptTypes(module)
    .replace(/^import (\{.*\}) from "@mrlm\/kit";$/m, "const $1 = kit;")
    .replace(/^export default /m, "return ")
    .replaceAll(/^export /gm, "");
  return new Function("kit", body)(kit) as Plugin;
}

test("the environment of README.md has 12 lines and no acknowledged code", () => {
  expect(code.split("\n").filter((line) => line !== "")).toHaveLength(12);
  expect(code).not.toContain("acknowledged");
});

test("the environment of README.md pays right answers alone", async () => {
  const [environment] = pluginOf(code).environments ?? [];
  if (environment === undefined) throw new Error("README.md has no environment");
  const { tasks, play } = await bareEnvironment(environment, {}, {});
  expect(tasks.splits).toEqual({ train: 240, eval: 40 });
  for (let index = 0; index < 40; index++) {
    const { public: shown, private: hidden } = await tasks.get("eval", index);
    const totals = await Promise.all(
      [hidden["answer"], shown["word"], ""].map(async (reply) => (await play(`eval/${index}`, [String(reply)]))[0]),
    );
    expect(totals.map((step) => step?.rewards["agent"])).toMatchObject([{ value: 1 }, { value: 0 }, { value: 0 }]);
  }
});
