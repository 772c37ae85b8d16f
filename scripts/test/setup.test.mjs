import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { packages, readJson, root } from "../lib/repository.mjs";
import { declaredFolders } from "../lib/setup.mjs";

describe("set-up", () => {
  const typed = packages().filter(({ manifest }) => manifest.exports?.["."]?.types !== undefined);

  test("U11: it writes the declarations that editors read, of every package that names some", () => {
    expect(typed.length).toBeGreaterThan(15);
    expect(declaredFolders().map((folder) => folder.replace(/^\.\//, ""))).toEqual(
      expect.arrayContaining(typed.map(({ folder }) => folder)),
    );
  });

  test.each(typed)(
    "U11: the compiler writes those of $manifest.name to the paths of its manifest",
    ({ path, manifest }) => {
      const { compilerOptions } = readJson(join(path, "tsconfig.json"));
      const base = readJson(join(root, "tsconfig.base.json")).compilerOptions;
      const { rootDir, outDir, declaration, composite } = { ...base, ...compilerOptions };
      expect(declaration === true || composite === true).toBe(true);
      const types = manifest.exports["."].types;
      expect(types).toMatch(new RegExp(`^\\./${outDir}/.*\\.d\\.ts$`));
      expect(existsSync(join(path, types.replace(`./${outDir}/`, `${rootDir}/`).replace(/\.d\.ts$/, ".ts")))).toBe(
        true,
      );
    },
  );
});
