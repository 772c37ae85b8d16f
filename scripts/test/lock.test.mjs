import { describe, expect, test } from "@jest/globals";
import { missingOptionalPackages } from "../lib/lock.mjs";

const tool = { optionalDependencies: { "tool-linux": "1.0.0", "tool-darwin": "1.0.0" } };

describe("missingOptionalPackages", () => {
  test("a lock with the packages of every platform lacks nothing", () => {
    const locked = { "node_modules/tool": tool, "node_modules/tool-linux": {}, "node_modules/tool-darwin": {} };
    expect(missingOptionalPackages(locked)).toEqual([]);
  });

  test("names what is missing, and the package that requires it", () => {
    const locked = { "node_modules/tool": tool, "node_modules/tool-linux": {} };
    expect(missingOptionalPackages(locked)).toEqual(["node_modules/tool -> tool-darwin@1.0.0"]);
  });

  test("nested packages are found where Node would look", () => {
    const locked = {
      "node_modules/a/node_modules/tool": tool,
      "node_modules/a/node_modules/tool-linux": {},
      "node_modules/a/node_modules/tool/node_modules/tool-darwin": {},
      "node_modules/b/node_modules/tool": tool,
      "node_modules/tool-linux": {},
    };
    expect(missingOptionalPackages(locked)).toEqual(["node_modules/b/node_modules/tool -> tool-darwin@1.0.0"]);
  });
});
