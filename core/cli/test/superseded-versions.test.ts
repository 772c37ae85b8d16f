import { expect, test } from "@jest/globals";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import type { MrlmError } from "@mrlm/spec";
import { selectedEnvironments } from "../src/services/selected-environments.ts";

const FORM = /form: equivalent/;

/** Returns the error of a promise. */
const refusal = async (promise: Promise<unknown>): Promise<MrlmError> =>
  promise.then(
    () => {
      throw new Error("It was not refused.");
    },
    (error: MrlmError) => error,
  );

test("the former versions of math, tools, research and code are refused with the newest one, everywhere that a user names them", async () => {
  const plugins = await PluginHost.discover({ directory: process.cwd() });
  try {
    for (const name of ["math", "tools", "research", "code"]) {
      for (const source of [plugins, await selectedEnvironments(plugins, undefined)]) {
        const error = await refusal(source.environment(`${name}@1`));
        expect(error.code).toBe("ENVIRONMENT_NOT_FOUND");
        expect(error.message).toContain(`Did you mean "${name}@2"?`);
        expect(error.hint).toContain(`${name}@2 replaces ${name}@1.`);
        if (name !== "code") expect(error.hint).toMatch(FORM);
      }
    }
    const host = new LocalHost({ source: plugins });
    const asked = [
      () => plugins.service("scorer", "math@1", "the command"),
      () => host.describe({ id: "tools", options: { scorers: ["math@1"], data: { path: "none.jsonl" } } }),
      () => host.describe({ id: "research", options: { scorer: "math@1" } }),
    ];
    for (const each of asked) {
      const error = await refusal(each());
      expect(error.code).toBe("REQUIREMENT_MISSING");
      expect(error.message).toMatch(/requires scorer "math@1", which no plugin provides\. Did you mean "math@2"\?/);
      expect(error.hint).toMatch(/^math@2 replaces math@1\. /);
      expect(error.hint).toMatch(FORM);
      expect(error.hint).not.toContain("npm install");
    }
  } finally {
    await plugins.close();
  }
});
