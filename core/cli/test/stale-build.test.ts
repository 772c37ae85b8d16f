import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { changedSince } from "../src/commands/check.ts";

test("a source that is newer than the build is named; a declaration, a missing build and an entry that is a source are not", () => {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-stale-"));
  const write = (name: string, time: number): void => {
    mkdirSync(join(directory, name, ".."), { recursive: true });
    writeFileSync(join(directory, name), "");
    utimesSync(join(directory, name), time, time);
  };
  const changed = (entry: string): string | undefined =>
    changedSince({ directory, name: "shift", version: "1.0.0", json: { mrlm: { entry } } });
  try {
    write("src/index.ts", 100);
    expect(changed("./dist/index.js")).toBeUndefined();
    write("dist/index.js", 200);
    write("src/types.d.ts", 300);
    expect(changed("./dist/index.js")).toBeUndefined();
    write("src/tasks/words.ts", 300);
    expect(changed("./dist/index.js")).toBe("src/tasks/words.ts");
    expect(changed("./src/index.ts")).toBeUndefined();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
