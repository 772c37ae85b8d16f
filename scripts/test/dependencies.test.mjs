import { describe, expect, test } from "@jest/globals";
import { isSameTree } from "../lib/dependencies.mjs";

const locked = {
  "": { name: "repository" },
  "core/a": { version: "1.0.0" },
  "node_modules/a": { link: true, resolved: "core/a" },
  "node_modules/b": { version: "2.0.0", integrity: "sha512-b" },
  "node_modules/c-darwin": { version: "3.0.0", integrity: "sha512-c", optional: true },
};
const { "node_modules/c-darwin": _, ...installed } = locked;

describe("isSameTree", () => {
  test("optional packages of other platforms may be missing", () => {
    expect(isSameTree(locked, installed)).toBe(true);
  });

  test("another version is another tree", () => {
    expect(isSameTree(locked, { ...installed, "node_modules/b": { version: "2.0.1", integrity: "sha512-b" } })).toBe(
      false,
    );
  });

  test("a package too few or too many is another tree", () => {
    const { "node_modules/b": _b, ...fewer } = installed;
    expect(isSameTree(locked, fewer)).toBe(false);
    expect(isSameTree(locked, { ...installed, "node_modules/d": { version: "1.0.0" } })).toBe(false);
  });
});
