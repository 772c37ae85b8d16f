import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { cacheDirectory } from "../src/cache-directory.ts";

test("the cache is in the cache directory of the platform, or at MRLM_CACHE", () => {
  expect(cacheDirectory({}, "linux", "/home/u")).toBe("/home/u/.cache/mrlm");
  expect(cacheDirectory({ XDG_CACHE_HOME: "/x" }, "linux", "/home/u")).toBe("/x/mrlm");
  expect(cacheDirectory({ XDG_CACHE_HOME: "/x" }, "darwin", "/Users/u")).toBe("/Users/u/Library/Caches/mrlm");
  expect(cacheDirectory({ LOCALAPPDATA: "/local" }, "win32", "/u")).toBe(join("/local", "mrlm", "Cache"));
  expect(cacheDirectory({ MRLM_CACHE: "/elsewhere", XDG_CACHE_HOME: "/x" }, "linux", "/home/u")).toBe("/elsewhere");
  expect(cacheDirectory({ MRLM_CACHE: "" }, "linux", "/home/u")).toBe("/home/u/.cache/mrlm");
});
